import type { Executed, Reply } from "@toolwright/dialogue"
import type { RunEvent, RunOutcome } from "@toolwright/toolbox"
import { refusalText, type Unmet } from "../gate/criteria.ts"
import type { LoopVerdict } from "../gate/loop-detector.ts"
import { unreadCalls } from "../gate/unread-calls.ts"
import { leftToDo } from "../gate/work-texts.ts"
import { artifactNote } from "./artifact-note.ts"
import { readOutput } from "./output.ts"
import type { RunState } from "./run-state.ts"
import { TEXTS } from "./texts.ts"

/** What a round comes to: what is told of it, and whether the run ends with it. */
export interface Verdict {
  events: RunEvent[]
  end?: { outcome: RunOutcome; message: string; code?: string }
}

const GO_ON: Verdict = { events: [] }

/** A loop that the last results show. */
export type SeenLoop = Exclude<LoopVerdict, { kind: "fine" }> & { name: string }

/** After calls: their results go to the model, with what there is to say about them. */
export function afterCalls(
  state: RunState,
  reply: Reply,
  executed: readonly Executed[],
  loop: SeenLoop | undefined,
): Verdict {
  const { conversation, dryRun, tools } = state
  conversation.addResults(executed, (name) => tools.get(name))
  addProblems(state, reply)
  if (dryRun !== undefined) return dryRun.repeated ? { events: [], end: dryRun.end() } : GO_ON
  addArtifactNote(state)
  if (loop === undefined) return GO_ON
  const { name, times, text } = loop
  conversation.addNote(text)
  const events: RunEvent[] = [{ type: "loop-detected", name, times, text }]
  return loop.kind === "stop" ? { events, end: { outcome: "stuck", message: `stopped: ${text}` } } : { events }
}

/** After a reply without a call: a wish to finish, an explanation, or a call that could not be read. */
export async function afterWords(state: RunState, reply: Reply): Promise<Verdict> {
  const { content, reasoning, finishReason } = reply
  const output = await outputIn(state, reply)
  if (output !== undefined) return atTheGate(state, content, output)
  const problems = addProblems(state, reply)
  if (problems !== undefined) return nudge(state, "parse-problem", problems, false)
  if (finishReason === "length") return nudge(state, "cut-off", TEXTS.cutOff)
  const silent = content.trim() === ""
  if (silent && reasoning.trim() !== "") return nudge(state, "only-reasoning", TEXTS.onlyReasoning)
  const unread = unreadCalls(content, state.dialogue.plan.formatter, state.offered)
  if (unread !== undefined) return nudge(state, "parse-problem", unread)
  if (reply.selfKnowledge.declined === true) return { events: [], end: await declined(state, content) }
  if (state.dryRun !== undefined && !silent) return { events: [], end: state.dryRun.end() }
  return wantsToFinish(state, content)
}

/** A phase that hands over ends by that and not by words. */
function wantsToFinish(state: RunState, content: string): Promise<Verdict> | Verdict {
  return state.work?.handsOver === undefined ? atTheGate(state, content) : nudge(state, "no-call", TEXTS.handOver)
}

/** Whether what was done is enough for the model to finish, where it asks to. */
async function atTheGate(state: RunState, content: string, output?: { value: unknown }): Promise<Verdict> {
  const { completion = {} } = state.options
  const asks =
    output !== undefined || completion.signal === undefined
      ? content.trim() !== ""
      : content.includes(completion.signal)
  const ends = asks || (state.ledger.effects > 0 && state.nudges + 1 >= state.mostNudges)
  if (!ends) return talksOn(state, state.request.withoutTools === true ? TEXTS.answer : TEXTS.useTools)
  const missing = await checked(state, () => state.gate.unmet(state.signal))
  state.forming = false
  if (missing === undefined) {
    if (output === undefined && wantsOutput(state)) return askForOutput(state, content)
    state.output = output
    const message = completion.successMessage ?? answerIn(content, completion.signal)
    return { events: [], end: await checked(state, () => state.gate.settle(message, state.signal)) }
  }
  if (!asks || state.ledger.calls === 0) return talksOn(state, TEXTS.useTools, missing)
  const text = refusalText(missing)
  const events: RunEvent[] = [{ type: "completion-refused", reasons: missing.reasons, text }]
  if (++state.nudges > state.mostNudges) return { events, end: state.gate.giveUp(missing) }
  state.conversation.addNote(text)
  return { events }
}

/** After words without a call: a model that did call tools learns what is missing of its work, and so does its end. */
async function talksOn(state: RunState, text: string, known?: Unmet): Promise<Verdict> {
  const { gate, ledger, options, request } = state
  if (ledger.calls === 0 || request.withoutTools === true) return nudge(state, "no-call", text)
  if (state.nudges + 1 > state.mostNudges) {
    const missing = known ?? (await checked(state, () => gate.unmet(state.signal)))
    const said = nudge(state, "no-call", text)
    return missing === undefined ? said : { ...said, end: gate.giveUp(missing) }
  }
  const reasons = (known ?? (await checked(state, () => gate.missing())))?.reasons ?? []
  return nudge(state, "no-call", text + leftToDo(reasons, ledger.openFailures, options.completion?.signal))
}

function wantsOutput(state: RunState): boolean {
  return state.request.output !== undefined && state.dryRun === undefined
}

/** The answer in its form, where one is wanted and this is it; what looks like a call to a parser may be it too. */
async function outputIn(state: RunState, { content, raw }: Reply): Promise<{ value: unknown } | undefined> {
  const { output } = state.request
  if (output === undefined || !wantsOutput(state)) return undefined
  for (const text of new Set([content, raw])) {
    const read = await readOutput(text, output)
    if ("value" in read) return read
  }
  return undefined
}

/** Asks for the answer in its form: where there are tools it was given in words first, which is no mistake yet. */
async function askForOutput(state: RunState, content: string): Promise<Verdict> {
  const read = await readOutput(content, state.request.output!)
  const fault = "fault" in read ? read.fault : ""
  const most = state.request.withoutTools === true ? 1 : 2
  if (++state.formAsks > most)
    return {
      events: [],
      end: { outcome: "failed", message: `${TEXTS.badOutput} ${fault}`, code: "INVALID_OUTPUT" },
    }
  const text = `${fault}\n\n${TEXTS.outputAlone}`
  state.forming = true
  state.conversation.addNote(text)
  return { events: [{ type: "nudge", reason: "output", text }] }
}

/** How a run ends where the model said that it does not do what is asked: never well, however well its calls went. */
async function declined(state: RunState, content: string): Promise<Verdict["end"]> {
  const message = answerIn(content, state.options.completion?.signal)
  if (state.calls === 0) return { outcome: "nothing-done", message }
  state.ledger.note({ code: "DECLINED", message: "The model declined a part of what was asked." })
  if (state.dryRun !== undefined) {
    const end = state.dryRun.end()
    return end.outcome === "completed" ? { ...end, outcome: "completed-with-failures" } : end
  }
  return {
    ...(await checked(state, () => state.gate.settle(message, state.signal))),
    outcome: "completed-with-failures",
  }
}

/** What the gate runs (git, the checks as they were) takes time as tools do. */
async function checked<Value>(state: RunState, check: () => Promise<Value>): Promise<Value> {
  const started = performance.now()
  try {
    return await check()
  } finally {
    state.toolMs += performance.now() - started
  }
}

function nudge(
  state: RunState,
  reason: Extract<RunEvent, { type: "nudge" }>["reason"],
  text: string,
  add = true,
): Verdict {
  if (++state.nudges > state.mostNudges)
    return {
      events: [],
      end:
        state.request.withoutTools === true
          ? { outcome: "nothing-done", message: TEXTS.noAnswer }
          : { outcome: "no-tool-use", message: TEXTS.noToolUse },
    }
  if (add) state.conversation.addNote(text)
  return { events: [{ type: "nudge", reason, text }] }
}

/** Tells the model which of its calls could not be read, and why: none is dropped in silence. */
function addProblems({ conversation, dryRun }: RunState, reply: Reply): string | undefined {
  const unread = reply.problems.filter(({ repaired }) => !repaired)
  if (unread.length === 0) return undefined
  for (const _ of unread) dryRun?.observeUnreadable()
  conversation.addUnread(reply)
  const inText = unread.filter(({ call }) => call === undefined)
  if (inText.length === 0) return unread.map(({ message }) => message).join("\n")
  const lines = inText.map(({ message }) => `- ${message}`)
  const text =
    `Part of your reply looked like a tool call but could not be read:\n${lines.join("\n")}\nPlease repeat it in ` +
    "the form that you were shown."
  conversation.addNote(text)
  return text
}

/** Says what has become possible, once for each artifact that is new. */
function addArtifactNote(state: RunState): void {
  const { artifacts } = state.ledger
  if (artifacts.size === state.artifacts) return
  state.artifacts = artifacts.size
  const note = artifactNote(state.offered, artifacts)
  if (note !== undefined) state.conversation.addNote(note)
}

function answerIn(content: string, signal: string | undefined): string {
  return (signal === undefined ? content : content.replaceAll(signal, "")).trim()
}
