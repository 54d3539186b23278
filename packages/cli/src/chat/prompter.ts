import { createInterface, type Interface } from "node:readline"
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
export function terminalPrompter(options: TerminalPrompterOptions): Prompter {
  return new TerminalPrompter(options)
}

type Taker = (line: string | undefined) => void

class TerminalPrompter implements Prompter {
  interrupted = false
  readonly #options: TerminalPrompterOptions
  readonly #terminal: Interface
  /** Whether what is typed is shown. */
  #shown = false
  #closed = false
  #warned = false
  readonly #ahead: string[] = []
  #waiting: Taker | undefined
  #answering: Taker | undefined
  readonly #close = (): void => this.#terminal.close()

  constructor(options: TerminalPrompterOptions) {
    const { input, prompt, signal } = options
    this.#options = options
    this.#terminal = createInterface({ input, output: this.#screen(), terminal: true, prompt })
    this.#terminal.on("history", (entries) => {
      // An answer to a question is nothing to be called up again.
      if (this.#answering !== undefined) entries.shift()
    })
    this.#terminal.on("line", (line) => this.#typed(line))
    this.#terminal.on("SIGINT", () => this.#interrupt())
    this.#terminal.on("close", () => this.#ended())
    signal.addEventListener("abort", this.#close, { once: true })
    if (signal.aborted) this.#close()
  }

  async line(): Promise<string | undefined> {
    const { output, prompt } = this.#options
    const typed = this.#ahead.shift()
    if (typed !== undefined) {
      output.write(`${prompt}${neutralise(typed)}\n`)
      return typed
    }
    if (this.#closed) return undefined
    return new Promise((resolve) => {
      this.#waiting = (line) => {
        this.#waiting = undefined
        resolve(line)
      }
      this.#shown = true
      this.#terminal.prompt(true)
    })
  }

  ask(question: string, cancelled: AbortSignal): Promise<boolean> {
    if (this.#closed || cancelled.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const onAbort = (): void => settle(undefined)
      const settle = (line: string | undefined): void => {
        cancelled.removeEventListener("abort", onAbort)
        this.#answered(line)
        resolve(/^y(es)?$/i.test(line?.trim() ?? ""))
      }
      cancelled.addEventListener("abort", onAbort, { once: true })
      this.#emptyLine()
      this.#answering = settle
      this.#shown = true
      this.#terminal.setPrompt(question)
      this.#terminal.prompt()
    })
  }

  [Symbol.dispose](): void {
    this.#options.signal.removeEventListener("abort", this.#close)
    if (!this.#closed) this.#terminal.close()
  }

  #screen(): Writable {
    const { output } = this.#options
    const screen = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        if (this.#shown) output.write(chunk)
        done()
      },
    })
    Object.defineProperty(screen, "columns", { get: () => output.columns ?? 80 })
    return screen
  }

  #typed(line: string): void {
    this.#shown = false
    this.#warned = false
    const taker = this.#answering ?? this.#waiting
    if (taker === undefined) this.#ahead.push(line)
    else taker(line)
  }

  #answered(line: string | undefined): void {
    const { output, prompt } = this.#options
    this.#answering = undefined
    this.#shown = false
    if (!this.#closed) this.#terminal.setPrompt(prompt)
    if (line !== undefined) return
    // Half an answer is not the beginning of the next request.
    if (!this.#closed) this.#emptyLine()
    output.write("\n")
  }

  #interrupt(): void {
    const { output, onInterrupt } = this.#options
    if (this.#waiting === undefined) return onInterrupt()
    if (this.#terminal.line === "" && this.#warned) {
      this.interrupted = true
      return this.#terminal.close()
    }
    this.#warned = this.#terminal.line === ""
    output.write(this.#warned ? "\n(Ctrl-C again leaves, as does /exit)\n" : "^C\n")
    this.#emptyLine()
    this.#terminal.prompt()
  }

  #ended(): void {
    this.#closed = true
    if (this.#waiting !== undefined) this.#options.output.write("\n")
    this.#answering?.(undefined)
    this.#waiting?.(undefined)
  }

  #emptyLine(): void {
    const before = this.#shown
    this.#shown = false
    this.#terminal.write(null, { ctrl: true, name: "e" })
    this.#terminal.write(null, { ctrl: true, name: "u" })
    this.#shown = before
  }
}
