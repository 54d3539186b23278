import { mediaFor, type PermissionPolicy, type Toolwright } from "@toolwright/runtime"
import { ToolwrightError } from "@toolwright/toolbox"
import { oneAtATime, permitPreview, permitQuestion } from "../approve.ts"
import { EXIT, type Invocation } from "../command.ts"
import { liveRenderer, type LiveRenderer } from "../render/live.ts"
import { neutralise } from "../render/neutralise.ts"
import { oneLine } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
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
  const { stdout, isTTY, env, signal } = invocation
  const style = styleFor(isTTY.stdout, env)
  const say = (text: string): void => void stdout.write(`${text}\n`)
  const dialogue = new Dialogue()
  let dryRun = options.dryRun
  let images = [...options.images]
  let turn: { controller: AbortController; renderer: LiveRenderer; interrupts: number } | undefined
  let leaving = false
  let lastCode: number = EXIT.success

  const onTerminal = isTTY.stdin && isTTY.stdout
  let prompter: Prompter | undefined
  const approve = oneAtATime(async (call, cancelled) => {
    turn?.renderer.hold()
    try {
      stdout.write(await permitPreview(call))
      return (await prompter?.ask?.(`  ${permitQuestion(call)}`, AbortSignal.any([cancelled, signal]))) ?? false
    } finally {
      turn?.renderer.release()
    }
  })
  await using toolwright = await options.assemble(onTerminal ? approve : undefined)
  toolwright.toolsFor(options.agent) // Throws where there is no such agent.
  const backend = await toolwright.backend()
  const model = modelLine(backend, toolwright.configuration, toolwright.pairing)

  say(style.bold(model))
  if (toolwright.pairing !== undefined) say(style.dim(ANOTHER))
  if (onTerminal) say(style.dim("/help shows the commands; /exit leaves."))
  if (dryRun) say("Dry run: calls are shown and not run.")
  using reader = onTerminal
    ? terminalPrompter({ input: process.stdin, output: stdout, prompt: PROMPT, signal, onInterrupt })
    : pipePrompter(invocation, PROMPT)
  prompter = reader

  while (true) {
    const line = await reader.line()
    if (line === undefined) break
    const command = /^\/([a-z]+)(?:\s.*)?$/.exec(line)?.[1]
    // Whoever writes that word alone wants to leave, and not an answer to it.
    if (/^\/?(?:exit|quit)$/.test(line.trim())) break
    if (command === "image") attach(line.replace("/image", "").trim())
    else if (command !== undefined) obey(command)
    else if (line.trim() !== "" && (await answer(line.trim())) === "left") break
  }
  if (leaving || reader.interrupted || signal.aborted) return EXIT.interrupted
  return onTerminal ? EXIT.success : lastCode

  function onInterrupt(): void {
    if (turn === undefined) return
    leaving ||= ++turn.interrupts > 1
    turn.controller.abort(new DOMException("Stopped", "AbortError"))
  }

  async function answer(task: string): Promise<"left" | "answered"> {
    turn = {
      controller: new AbortController(),
      renderer: liveRenderer(invocation, toolwright.pairing !== undefined ? { resultLines: SHOWN_LINES } : {}),
      interrupts: 0,
    }
    const { controller, renderer } = turn
    const history = [...dialogue.messages]
    lastCode = EXIT.failure
    try {
      const media = await mediaFor(
        images.map((path) => ({ type: "image", path })),
        backend,
        invocation.cwd,
      )
      images = []
      dialogue.begin(task, media)
      const events = toolwright.run(task, {
        agent: options.agent,
        history,
        dryRun,
        ...(media.length === 0 ? {} : { media }),
        surface: "chat",
        signal: AbortSignal.any([controller.signal, signal]),
      })
      for await (const event of events) {
        renderer.show(event)
        dialogue.see(event)
        if (event.type === "run-end") lastCode = taskExitCode(event.summary, toolwright.pairing !== undefined)
      }
    } catch (thrown) {
      // Without a model that can be this agent, no other line is answered either.
      if (!ToolwrightError.isInstance(thrown) || thrown.code === "NO_MODEL") throw thrown
      images = []
      renderer.hold()
      say(
        `${style.red("failed")}: ${neutralise(thrown.message)}${thrown.hint === undefined ? "" : `\n${neutralise(thrown.hint)}`}`,
      )
    } finally {
      renderer.close()
      turn = undefined
    }
    return leaving ? "left" : "answered"
  }

  function attach(path: string): void {
    if (path === "") return say("Which file? /image photo.png")
    images.push(path)
    say(`The next request is sent with ${images.join(", ")}.`)
  }

  function obey(command: string): void {
    switch (command) {
      case "help":
        return say(HELP)
      case "model":
        return say(`${model}\n${ANOTHER}`)
      case "tools":
        return listTools()
      case "clear":
        dialogue.clear()
        return say("What was said is forgotten.")
      case "dry":
        dryRun = !dryRun
        return say(dryRun ? "Calls are shown and not run. /dry runs them again." : "Calls are run.")
      default:
        return say(
          `There is no command /${command}; /help shows what there is. With a space before it, it is a request.`,
        )
    }
  }

  function listTools(): void {
    const tools = toolwright.toolsFor(options.agent).list()
    const width = Math.max(...tools.map(({ name }) => name.length))
    const room = (isTTY.stdout ? stdout.columns || 100 : 120) - width - 4
    for (const { name, description } of tools)
      say(`  ${neutralise(name.padEnd(width))}  ${style.dim(oneLine(description, Math.max(20, room)))}`)
  }
}
