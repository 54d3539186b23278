import { isHeld } from "@toolwright/agents"
import type { LogEvent, RunRow } from "@toolwright/store"
import type { EventDigest, RunDigest } from "./shapes.ts"

const SHORT = 240
const ARGUMENTS = 600

/** The beginning of a text. */
const short = (text: unknown, most = SHORT): string | undefined =>
  typeof text !== "string" || text === "" ? undefined : text.length > most ? `${text.slice(0, most)}…` : text

/** A row of the table as lists show it. */
export function runDigest(row: RunRow, now: number): RunDigest {
  const {
    id,
    agent,
    model,
    title,
    surface,
    started_at,
    ended_at,
    parent_run,
    parent_seq,
    task,
    summary,
    asked_by,
    asked_call,
  } = row
  const { rounds, calls, failedCalls, inputTokens, outputTokens, message, times, modifiedFiles } = objectIn(
    summary ?? "{}",
  )
  const totalMs = (times as { totalMs?: unknown } | undefined)?.totalMs
  return defined({
    id,
    agent,
    model,
    title: short(title, 500) ?? "",
    surface,
    status: statusOf(row, now),
    started: Number(started_at),
    ended: ended_at === null ? undefined : Number(ended_at),
    ms: number(totalMs) ?? (ended_at === null ? undefined : Number(ended_at) - Number(started_at)),
    rounds: number(rounds),
    calls: number(calls),
    failedCalls: number(failedCalls),
    inputTokens: number(inputTokens),
    outputTokens: number(outputTokens),
    message: short(message),
    task: task ?? undefined,
    about: row.about ?? undefined,
    changed: Array.isArray(modifiedFiles) ? modifiedFiles.length : undefined,
    askedBy: asked_by === null ? undefined : { run: asked_by, call: asked_call ?? "" },
    parent: parent_run === null ? undefined : { run: parent_run, seq: Number(parent_seq) },
  })
}

function statusOf(row: RunRow, now: number): string {
  if (row.state === "ended") return row.outcome ?? "failed"
  if (row.state === "waiting") return "waiting"
  return isHeld(row, now) ? "running" : "interrupted"
}

type Body = Record<string, unknown>

/** Ends of a reply of which nothing need be said: its calls stand below it. */
const USUAL_ENDS = new Set(["stop", "tool-calls", "tool_calls"])

/** What is said of each kind of event; one that is not listed tells what its `text` or `message` begins with. */
const ABOUT: Readonly<Record<string, (body: Body) => Partial<EventDigest>>> = {
  "run-start": ({ task }) => ({ text: short(task) }) as Partial<EventDigest>,
  "round-start": ({ round }) => ({ round: number(round) }) as Partial<EventDigest>,
  "round-end": ({ round }) => ({ round: number(round) }) as Partial<EventDigest>,
  request: ({ round, messageCount, delivery, toolCount, context }) =>
    ({
      round: number(round),
      count: number(messageCount),
      text:
        `${Number(messageCount ?? 0)} messages, ${Number(toolCount ?? 0)} tools, ` +
        `${String(delivery ?? "")}${windowOf(context)}`,
    }) as Partial<EventDigest>,
  reply: ({ round, content, reasoning, calls, modelMs, finishReason, usage }) =>
    ({
      round: number(round),
      text: short(content) ?? short(reasoning),
      count: Array.isArray(calls) ? calls.length : 0,
      ms: number(modelMs),
      code: typeof finishReason === "string" && !USUAL_ENDS.has(finishReason) ? finishReason : undefined,
      tokens: number((usage as { outputTokens?: unknown } | undefined)?.outputTokens),
    }) as Partial<EventDigest>,
  "call-end": ({ callId, name, path }) => ({ callId, name, text: short(path) }) as Partial<EventDigest>,
  "effect-start": ({ callId, name, declared }) => ({ callId, name, text: short(declared) }) as Partial<EventDigest>,
  "reply-tokens": ({ round, trace, withheld }) => {
    const { tokens } = (trace ?? {}) as Body
    return {
      round: number(round),
      count: Array.isArray(tokens) ? tokens.length : 0,
      text: withheld === true ? "not recorded: a secret stands in the reply" : undefined,
    } as Partial<EventDigest>
  },
  "tool-start": ({ callId, name, arguments: args, repairs }) =>
    ({
      callId,
      name,
      args: short(JSON.stringify(args ?? {}), ARGUMENTS),
      count: Array.isArray(repairs) && repairs.length > 0 ? repairs.length : undefined,
    }) as Partial<EventDigest>,
  "tool-end": ({ callId, name, result }) => {
    const { success, output, error, executionTimeMs } = (result ?? {}) as Body
    const { code, message } = (error ?? {}) as Body
    return {
      callId,
      name,
      ok: success === true,
      code,
      text: short(success === true ? output : (message ?? output)),
      ms: number(executionTimeMs),
    } as Partial<EventDigest>
  },
  "phase-start": ({ phase, index, of, maxRounds }) => ({
    name: phase as string,
    text: `${Number(index)} of ${Number(of)}, to round ${Number(maxRounds)} at the latest`,
  }),
  "phase-end": ({ phase, artifact }) => {
    const { name, value } = (artifact ?? {}) as Body
    return {
      name: phase,
      text: name === undefined ? undefined : short(`handed over ${String(name)}: ${JSON.stringify(value)}`),
    } as Partial<EventDigest>
  },
  "run-resume": ({ round, calls }) => ({ text: `from round ${Number(round)} on, after ${Number(calls)} calls` }),
  "model-retry": ({ attempt, reason }) =>
    ({ text: short(`attempt ${Number(attempt)}: ${String(reason)}`) }) as Partial<EventDigest>,
  "delivery-fallback": ({ from, to, reason }) =>
    ({ text: short(`${String(to)} instead of ${String(from)}: ${String(reason)}`) }) as Partial<EventDigest>,
  "grammar-refused": ({ tool, reason }) => ({ name: tool, text: short(reason) }) as Partial<EventDigest>,
  "tools-changed": ({ added, removed }) => ({ text: short(toolChanges(added, removed)) }) as Partial<EventDigest>,
  "approval-ask": ({ callId, name, question }) => ({ callId, name, text: short(question) }) as Partial<EventDigest>,
  "approval-answer": ({ callId, state, by, note }) =>
    ({
      callId,
      ok: state === "allowed",
      by: short(by, 100),
      text: `${String(state)}${typeof note === "string" && note !== "" ? `: ${short(note)}` : ""}`,
    }) as Partial<EventDigest>,
  "undo-start": ({ of, by, paths }) =>
    ({
      by: short(by, 100),
      count: Array.isArray(paths) ? paths.length : undefined,
      text: short(`what ${String(of)} changed`),
    }) as Partial<EventDigest>,
  "undo-end": ({ restored, refused }) => {
    const [back, stay] = [restored, refused].map((list) => (Array.isArray(list) ? list.length : 0))
    return { ok: stay === 0, count: back, text: `${back} taken back, ${stay} left as they are` } as Partial<EventDigest>
  },
  "evaluation-start": ({ suite, models, trials }) =>
    ({
      count: number(trials),
      text: short(`${String(suite)} with ${Array.isArray(models) ? models.join(", ") : ""}`),
    }) as Partial<EventDigest>,
  "trial-end": ({ task, model, trial, verdict, run, milliseconds }) =>
    ({
      ok: verdict === "pass",
      code: verdict,
      text: short(`${String(task)} with ${String(model)}, trial ${String(trial)}: ${String(verdict)} (${String(run)})`),
      ms: number(milliseconds),
    }) as Partial<EventDigest>,
  "run-end": ({ summary, error }) => {
    const { outcome, message, success, times } = (summary ?? {}) as Body
    const { message: failed } = (error ?? {}) as Body
    return {
      ok: success === true,
      code: outcome,
      text: short(message) ?? short(failed),
      ms: number((times as Body | undefined)?.totalMs),
    } as Partial<EventDigest>
  },
}

/** How full the model's window was, and what had to be left out for that. */
function windowOf(context: unknown): string {
  const { tokens, contextTokens, leftOut } = (context ?? {}) as Body
  const [used, of, left] = [number(tokens), number(contextTokens), number(leftOut)]
  if (used === undefined || of === undefined || of <= 0) return ""
  return (
    `, ${Math.round((100 * used) / of)} % of its ` +
    `window${left === undefined || left === 0 ? "" : `, ${left} messages left out`}`
  )
}

function toolChanges(added: unknown, removed: unknown): string {
  const named = (list: unknown): string => (Array.isArray(list) ? list.join(", ") : "")
  const [more, fewer] = [named(added), named(removed)]
  return [more === "" ? "" : `now there: ${more}`, fewer === "" ? "" : `gone: ${fewer}`].filter(Boolean).join("; ")
}

/** An event as lists show it. What its body holds was written by models and tools: nothing of it is trusted. */
export function eventDigest({ seq, type, time, body }: LogEvent): EventDigest {
  if (body === undefined) return { seq, type, time: Number(time), bytes: 0, erased: true }
  const read = objectIn(body)
  const about =
    ABOUT[type]?.(read) ??
    ({ callId: read.callId, name: read.name, text: short(read.text) ?? short(read.message) } as Partial<EventDigest>)
  return defined({ seq, type, time: Number(time), bytes: body.length, ...about })
}

/** The texts that an event names by their hashes, where we write such names: what a call or a reply says names none. */
export function textsNamedBy({ type, body = "{}" }: Pick<LogEvent, "type" | "body">): string[] {
  const { prompt, tools, grammar, conversation, given } = objectIn(body) as Record<string, Body | string | undefined>
  const added = (list: Body | string | undefined, name: string): unknown[] => {
    const found = typeof list === "object" && list !== null ? list[name] : undefined
    return Array.isArray(found) ? found : [found]
  }
  const named: Readonly<Record<string, () => unknown[]>> = {
    request: () => [...added(prompt, "add"), tools, grammar],
    "round-end": () => added(conversation, "add"),
    "run-start": () => [...added(given, "systemPrompt"), ...added(given, "history")],
  }
  const all = Object.hasOwn(named, type) ? named[type]!() : []
  return all.filter((each) => typeof each === "string")
}

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

function objectIn(json: string): Body {
  try {
    const value = JSON.parse(json) as unknown
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : {}
  } catch {
    return {}
  }
}

/** Without the fields that are not there. */
function defined<Value extends object>(value: { [Key in keyof Value]: Value[Key] | undefined }): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value
}
