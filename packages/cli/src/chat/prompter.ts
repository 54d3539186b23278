import { createInterface } from "node:readline"
import { Readable, Writable } from "node:stream"
import type { Invocation, Output } from "../command.ts"
import { neutralise } from "../render/neutralise.ts"

/** Where the lines of a conversation come from. */
export interface Prompter extends Disposable {
  /** The next line; nothing at the end of the input, or once the person has left. */
  line(): Promise<string | undefined>
  /** Puts a question that is answered with y or n; not there where nobody can be asked. Anything but yes means no. */
  ask?(question: string, signal: AbortSignal): Promise<boolean>
  /** Whether the person left with Ctrl-C. */
  readonly interrupted: boolean
}

/** Lines from a pipe or a file, as they come. They are shown, since nobody has typed them. */
export function pipePrompter(
  { stdin, stdout, signal }: Pick<Invocation, "stdin" | "stdout" | "signal">,
  prompt: string,
): Prompter {
  // A pipe that breaks ends the conversation as its end does.
  const input = Readable.from(stdin).on("error", () => reader.close())
  const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const lines = reader[Symbol.asyncIterator]()
  const close = (): void => reader.close()
  signal.addEventListener("abort", close, { once: true })
  return {
    interrupted: false,
    async line() {
      if (signal.aborted) return undefined
      const next = await lines.next()
      if (next.done === true) return undefined
      if (next.value.trim() !== "") stdout.write(`${prompt}${neutralise(next.value)}\n`)
      return next.value
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", close)
      close()
    },
  }
}

/** The streams of a terminal, and what happens when Ctrl-C is pressed while an answer is under way. */
export interface TerminalPrompterOptions {
  input: NodeJS.ReadableStream
  output: Output
  prompt: string
  signal: AbortSignal
  onInterrupt(): void
}

/**
 * Lines from a person. There is one reader for the whole conversation: a line goes to the question that is open, or to
 * whoever waits for a line, or it is kept for the next turn. It is shown only while a line is waited for, so that
 * typing ahead does not fall into the middle of an answer.
 *
 * Ctrl-C empties the line; on an empty one it says how to leave, and leaves the second time; while nothing is waited
 * for it is passed on. Ctrl-D leaves.
 */
export function terminalPrompter({ input, output, prompt, signal, onInterrupt }: TerminalPrompterOptions): Prompter {
  let shown = false
  let closed = false
  let interrupted = false
  let warned = false
  const ahead: string[] = []
  let waiting: ((line: string | undefined) => void) | undefined
  let answering: ((line: string | undefined) => void) | undefined

  const screen = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      if (shown) output.write(chunk)
      done()
    },
  })
  Object.defineProperty(screen, "columns", { get: () => output.columns ?? 80 })
  const terminal = createInterface({ input, output: screen, terminal: true, prompt })

  terminal.on("history", (entries) => {
    // An answer to a question is nothing to be called up again.
    if (answering !== undefined) entries.shift()
  })
  terminal.on("line", (line) => {
    shown = false
    warned = false
    const taker = answering ?? waiting
    if (taker === undefined) return void ahead.push(line)
    taker(line)
  })
  terminal.on("SIGINT", () => {
    if (waiting === undefined) return onInterrupt()
    if (terminal.line === "" && warned) {
      interrupted = true
      return terminal.close()
    }
    warned = terminal.line === ""
    output.write(warned ? "\n(Ctrl-C again leaves, as does /exit)\n" : "^C\n")
    emptyLine()
    terminal.prompt()
  })
  terminal.on("close", () => {
    closed = true
    if (waiting !== undefined) output.write("\n")
    answering?.(undefined)
    waiting?.(undefined)
  })
  const close = (): void => terminal.close()
  signal.addEventListener("abort", close, { once: true })
  if (signal.aborted) close()

  function emptyLine(): void {
    const before = shown
    shown = false
    terminal.write(null, { ctrl: true, name: "e" })
    terminal.write(null, { ctrl: true, name: "u" })
    shown = before
  }

  return {
    get interrupted() {
      return interrupted
    },
    async line() {
      const typed = ahead.shift()
      if (typed !== undefined) {
        output.write(`${prompt}${neutralise(typed)}\n`)
        return typed
      }
      if (closed) return undefined
      return new Promise((resolve) => {
        waiting = (line) => {
          waiting = undefined
          resolve(line)
        }
        shown = true
        terminal.prompt(true)
      })
    },
    ask(question, cancelled) {
      if (closed || cancelled.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const settle = (line: string | undefined): void => {
          answering = undefined
          shown = false
          cancelled.removeEventListener("abort", onAbort)
          if (!closed) terminal.setPrompt(prompt)
          if (line === undefined) {
            // Half an answer is not the beginning of the next request.
            if (!closed) emptyLine()
            output.write("\n")
          }
          resolve(/^y(es)?$/i.test(line?.trim() ?? ""))
        }
        const onAbort = (): void => settle(undefined)
        cancelled.addEventListener("abort", onAbort, { once: true })
        emptyLine()
        answering = settle
        shown = true
        terminal.setPrompt(question)
        terminal.prompt()
      })
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", close)
      if (!closed) terminal.close()
    },
  }
}
