import type { PermissionPolicy, Toolwright } from "@toolwright/runtime"
import { ToolwrightError, type AskedCall, type RunEvent } from "@toolwright/toolbox"
import { oneAtATime, permitPreview, permitQuestion } from "../approve.ts"
import { EXIT, type Invocation } from "../command.ts"
import { liveRenderer, type LiveRenderer } from "../render/live.ts"
import { neutralise } from "../render/neutralise.ts"
import { oneLine } from "../render/short.ts"
import { styleFor, type Style } from "../render/style.ts"
import { SHOWN_LINES } from "../render/whole.ts"
import { taskExitCode } from "../run-task.ts"
import { Dialogue } from "./dialogue.ts"
import { modelLine } from "./model-line.ts"
import { pipePrompter, terminalPrompter, type Prompter } from "./prompter.ts"

/** How a conversation begins. */
export interface SessionOptions {
  agent: string
  dryRun: boolean
  /** Files of pictures that belong to the first request. */
  images: readonly string[]
  /** Assembles what answers. `approve` is given where somebody can be asked. */
  assemble(approve: PermissionPolicy["approve"]): Promise<Toolwright>
}

const HELP = `  /help   this list
  /tools  the tools that the model may call
  /model  which model answers
  /clear  forget what was said
  /dry    show calls without running them, or run them again
  /image  a picture's file, for the next request
  /exit   leave, as does Ctrl-D
  Ctrl-C stops an answer. A line that begins with a slash and is no command needs a space before it.`

const ANOTHER = "Another one: --model NAME --base-url URL, or toolwright.yaml, see 'toolwright help config'."

const PROMPT = "> "

/**
 * A conversation: each line is a run, with what was said before as its history. On a terminal people are asked for
 * approval; in a pipe nobody is, so what needs approval is denied.
 *
 * @returns the exit code: from a pipe that of the last task, so that a script learns what came of it; on a terminal 0
 * however the single ones ended; 130 when it was left with Ctrl-C
 */
export async function converse(invocation: Invocation, options: SessionOptions): Promise<number> {
  const { stdout, isTTY, signal } = invocation
  const onTerminal = isTTY.stdin && isTTY.stdout
  let session: Session | undefined
  const approve = oneAtATime((call, cancelled) => session!.permit(call, cancelled))
  await using toolwright = await options.assemble(onTerminal ? approve : undefined)
  toolwright.toolsFor(options.agent) // Throws where there is no such agent.
  session = new Session(invocation, options, { toolwright, backend: await toolwright.backend() })
  session.greet(onTerminal)
  const onInterrupt = (): void => session.interrupt()
  using reader = onTerminal
    ? terminalPrompter({ input: process.stdin, output: stdout, prompt: PROMPT, signal, onInterrupt })
    : pipePrompter(invocation, PROMPT)
  await session.readFrom(reader)
  if (session.isLeft || reader.interrupted || signal.aborted) return EXIT.interrupted
  return onTerminal ? EXIT.success : session.lastCode
}

/** What answers a conversation. */
interface Answering {
  toolwright: Toolwright
  backend: Awaited<ReturnType<Toolwright["backend"]>>
}

class Session {
  /** Whether the person left while an answer was under way. */
  isLeft = false
  /** The exit code of the last task. */
  lastCode: number = EXIT.success
  readonly #invocation: Invocation
  readonly #options: SessionOptions
  readonly #toolwright: Toolwright
  readonly #backend: Answering["backend"]
  readonly #model: string
  readonly #style: Style
  readonly #dialogue = new Dialogue()
  #dryRun: boolean
  #images: string[]
  #turn: { controller: AbortController; renderer: LiveRenderer; interrupts: number } | undefined
  #prompter: Prompter | undefined

  constructor(invocation: Invocation, options: SessionOptions, { toolwright, backend }: Answering) {
    this.#invocation = invocation
    this.#options = options
    this.#toolwright = toolwright
    this.#backend = backend
    this.#model = modelLine(backend, toolwright.configuration, toolwright.pairing)
    this.#style = styleFor(invocation.isTTY.stdout, invocation.env)
    this.#dryRun = options.dryRun
    this.#images = [...options.images]
  }

  greet(onTerminal: boolean): void {
    const { bold, dim } = this.#style
    this.#say(bold(this.#model))
    if (this.#toolwright.pairing !== undefined) this.#say(dim(ANOTHER))
    if (onTerminal) this.#say(dim("/help shows the commands; /exit leaves."))
    if (this.#dryRun) this.#say("Dry run: calls are shown and not run.")
  }

  /** Answers line after line, until the person leaves or there are no more. */
  async readFrom(reader: Prompter): Promise<void> {
    this.#prompter = reader
    while (true) {
      const line = await reader.line()
      if (line === undefined) return
      const command = /^\/([a-z]+)(?:\s.*)?$/.exec(line)?.[1]
      // Whoever writes that word alone wants to leave, and not an answer to it.
      if (/^\/?(?:exit|quit)$/.test(line.trim())) return
      if (command === "image") this.#attach(line.replace("/image", "").trim())
      else if (command !== undefined) this.#obey(command)
      else if (line.trim() !== "") await this.#answer(line.trim())
      if (this.isLeft) return
    }
  }

  /** Ctrl-C while an answer is under way: it stops, and the second time the conversation is left. */
  interrupt(): void {
    if (this.#turn === undefined) return
    this.isLeft ||= ++this.#turn.interrupts > 1
    this.#turn.controller.abort(new DOMException("Stopped", "AbortError"))
  }

  /** Asks for the permission of a call, while what is shown of the answer stands still. */
  async permit(call: AskedCall, cancelled: AbortSignal): Promise<boolean> {
    this.#turn?.renderer.hold()
    try {
      this.#invocation.stdout.write(await permitPreview(call))
      const open = AbortSignal.any([cancelled, this.#invocation.signal])
      return (await this.#prompter?.ask?.(`  ${permitQuestion(call)}`, open)) ?? false
    } finally {
      this.#turn?.renderer.release()
    }
  }

  #say(text: string): void {
    this.#invocation.stdout.write(`${text}\n`)
  }

  async #answer(task: string): Promise<void> {
    const isPaired = this.#toolwright.pairing !== undefined
    const renderer = liveRenderer(this.#invocation, isPaired ? { resultLines: SHOWN_LINES } : {})
    const controller = new AbortController()
    this.#turn = { controller, renderer, interrupts: 0 }
    this.lastCode = EXIT.failure
    try {
      for await (const event of await this.#run(task, controller.signal)) {
        renderer.show(event)
        this.#dialogue.see(event)
        if (event.type === "run-end") this.lastCode = taskExitCode(event.summary, isPaired)
      }
    } catch (thrown) {
      // Without a model that can be this agent, no other line is answered either.
      if (!ToolwrightError.isInstance(thrown) || thrown.code === "NO_MODEL") throw thrown
      this.#images = []
      renderer.hold()
      const hint = thrown.hint === undefined ? "" : `\n${neutralise(thrown.hint)}`
      this.#say(`${this.#style.red("failed")}: ${neutralise(thrown.message)}${hint}`)
    } finally {
      renderer.close()
      this.#turn = undefined
    }
  }

  async #run(task: string, stopped: AbortSignal): Promise<AsyncIterable<RunEvent>> {
    const history = [...this.#dialogue.messages]
    const images = this.#images.map((path) => ({ type: "image", path }) as const)
    const { mediaFor } = await import("@toolwright/runtime")
    const media = await mediaFor(images, this.#backend, this.#invocation.cwd)
    this.#images = []
    this.#dialogue.begin(task, media)
    return this.#toolwright.run(task, {
      agent: this.#options.agent,
      history,
      dryRun: this.#dryRun,
      ...(media.length === 0 ? {} : { media }),
      surface: "chat",
      signal: AbortSignal.any([stopped, this.#invocation.signal]),
    })
  }

  #attach(path: string): void {
    if (path === "") return this.#say("Which file? /image photo.png")
    this.#images.push(path)
    this.#say(`The next request is sent with ${this.#images.join(", ")}.`)
  }

  #obey(command: string): void {
    switch (command) {
      case "help":
        return this.#say(HELP)
      case "model":
        return this.#say(`${this.#model}\n${ANOTHER}`)
      case "tools":
        return this.#listTools()
      case "clear":
        this.#dialogue.clear()
        return this.#say("What was said is forgotten.")
      case "dry":
        this.#dryRun = !this.#dryRun
        return this.#say(this.#dryRun ? "Calls are shown and not run. /dry runs them again." : "Calls are run.")
      default:
        return this.#say(
          `There is no command /${command}; /help shows what there is. With a space before it, it is a request.`,
        )
    }
  }

  #listTools(): void {
    const { isTTY, stdout } = this.#invocation
    const tools = this.#toolwright.toolsFor(this.#options.agent).list()
    const width = Math.max(...tools.map(({ name }) => name.length))
    const room = (isTTY.stdout ? stdout.columns || 100 : 120) - width - 4
    for (const { name, description } of tools) {
      const about = this.#style.dim(oneLine(description, Math.max(20, room)))
      this.#say(`  ${neutralise(name.padEnd(width))}  ${about}`)
    }
  }
}
