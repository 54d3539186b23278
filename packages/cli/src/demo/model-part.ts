import type { AgentProfile, Configuration, RunEvent, Toolwright } from "@toolwright/runtime"
import { executeCall, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import { jsonLinesRenderer } from "../render/json-lines.ts"
import { createLines } from "../render/lines.ts"
import { liveRenderer } from "../render/live.ts"
import { neutralise } from "../render/neutralise.ts"
import type { Renderer } from "../render/renderer.ts"
import { columnsOf } from "../render/room.ts"
import { count, shortArguments } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
import { CallCheck } from "./check.ts"
import type { DemoRepository } from "./repository.ts"
import { REQUESTS, type DemoRequest, type ExpectedCall } from "./requests.ts"

/** What the part with the model is played with. */
export interface ModelPart {
  repository: DemoRepository
  json: boolean
  /** Prints a line, or, with `json`, a note. */
  say(text: string): void
  /** In place of the pocket model. */
  model?: Partial<Configuration["model"]>
  /** With tools for that model. */
  agent?: AgentProfile
}

/** Lines of a result that are shown. */
const SHOWN_LINES = 8

/** Rounds that one request may take: its calls, the answer, and one mistake. */
const MOST_ROUNDS = 4

/**
 * Puts the requests to the pocket model. Each call is compared with the one that the request asks for before it runs;
 * another one is shown and not run, and the right one is made in its place and called ours.
 *
 * @returns `skipped` where the model cannot be loaded, otherwise whether the repository is as it should be
 */
export async function playRequests(invocation: Invocation, part: ModelPart): Promise<"skipped" | boolean> {
  const { repository, say } = part
  const { createToolwright, DEFAULT_PAIRING } = await import("@toolwright/runtime")
  let check: CallCheck | undefined
  await using toolwright = await createToolwright({
    model: part.model ?? { backend: DEFAULT_PAIRING.backend },
    workspace: { roots: [repository.path] },
    agent: { maxRounds: MOST_ROUNDS },
    permissions: { ask: ["*"] },
    // The demonstration itself is asked, and answers by what it expects.
    approve: ({ tool, arguments: args }) => Promise.resolve(check?.take(tool.name, args) ?? false),
    cwd: repository.path,
    env: invocation.env,
  })
  try {
    await toolwright.backend()
  } catch (thrown) {
    // Ctrl-C reaches what tries the engine too, which then seems not to work.
    if (invocation.signal.aborted) return false
    if (!ToolwrightError.isInstance(thrown)) throw thrown
    const hint = thrown.hint === undefined ? "" : `\n${neutralise(thrown.hint)}`
    say(`This part is left out: the pocket model cannot run here. ${neutralise(thrown.message)}${hint}`)
    return "skipped"
  }

  let right = 0
  for (const request of REQUESTS) {
    if (invocation.signal.aborted) return false
    say(`\n> ${request.text}`)
    check = new CallCheck(request.calls)
    await ask(toolwright, request, check, invocation, part)
    if (invocation.signal.aborted) return false
    if (check.wrong.length === 0 && check.missing.length === 0) right++
    else await putRight(toolwright, check, invocation, part)
  }
  say(`\nThe calls for ${right} of ${count(REQUESTS.length, "request")} were right, as the model decoded them.`)
  return (await repository.git("log", "-1", "--format=%s")).trim() === "fix add"
}

async function ask(
  toolwright: Toolwright,
  { text }: DemoRequest,
  check: CallCheck,
  invocation: Invocation,
  part: ModelPart,
): Promise<void> {
  const renderer: Renderer = part.json
    ? jsonLinesRenderer(invocation.stdout)
    : liveRenderer(invocation, { resultLines: SHOWN_LINES })
  try {
    let args: JsonObject = {}
    for await (const event of toolwright.run(text, { signal: invocation.signal, agent: part.agent ?? "assistant" })) {
      renderer.show(event)
      if (event.type === "tool-start") args = event.arguments
      // What is not valid never gets as far as the question whether it may run.
      if (event.type === "tool-end" && NEVER_ASKED.has(event.result.error?.code ?? "")) check.refuse(event.name, args)
      else if (event.type === "tool-end" && !event.result.success && event.name !== "test")
        check.failed(event.name, args)
    }
  } finally {
    renderer.close()
  }
}

const NEVER_ASKED = new Set(["INVALID_ARGUMENTS", "UNKNOWN_TOOL", "TOOL_WITHDRAWN"])

/** Says what was wrong, and makes the calls that are missing. */
async function putRight(
  toolwright: Toolwright,
  { wrong, missing }: CallCheck,
  invocation: Invocation,
  { json, say }: ModelPart,
): Promise<void> {
  const { stdout, isTTY, env } = invocation
  const calls = wrong
    .map(
      ({ name, arguments: args, again }) =>
        neutralise(`${name} ${shortArguments(args, 100)}`.trim()) + (again ? " a second time" : ""),
    )
    .join("; ")
  const was =
    calls === "" ? "it did not make the call that was asked for" : `it decoded ${calls}. Only what was asked for is run`
  say(
    `  The model was wrong here: ${was}.` +
      (missing.length === 0 ? "" : "\n  The right call, made by this demonstration and not by the model:"),
  )
  const lines = json
    ? undefined
    : createLines({
        style: styleFor(isTTY.stdout, env),
        width: columnsOf({ stdout, isTTY }),
        unicode: isTTY.stdout,
      })
  const renderer = jsonLinesRenderer(stdout)
  const show = (event: RunEvent): void => {
    if (lines === undefined) renderer.show(event)
    else for (const line of lines(event)) stdout.write(`${line}\n`)
  }
  for (const call of missing) await carryOut(toolwright, call, show, invocation.signal)
}

function carryOut(
  toolwright: Toolwright,
  { name, arguments: args }: ExpectedCall,
  onEvent: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<ToolResult> {
  return executeCall(
    toolwright.registry.view({ splitActions: true }),
    { name, arguments: args },
    { callId: "ours", onEvent, signal },
  )
}

/** What is said of the model before it is asked anything. */
export async function introduction(): Promise<string> {
  const { DEFAULT_PAIRING } = await import("@toolwright/runtime")
  return `1. Requests, decoded live by the pocket model
   It is ${DEFAULT_PAIRING.words.is}.
   It runs in this process, and nothing that it writes is prepared. Tools, tests and git are real. A call that was \
not asked for is
   shown and not run.`
}
