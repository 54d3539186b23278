import {
  effectsOf,
  failure,
  roleOf,
  type CheckedCall,
  type JsonObject,
  type ToolCall,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import { shownIn } from "@toolwright/dialogue"
import type { InterruptedWork } from "../gate/work-record.ts"
import { declaredEffect, type StartingEffect } from "../record/effects.ts"
import type { BegunCall, FoldedRun, OpenRound } from "../record/fold.ts"
import type { SettledCall } from "./batch.ts"
import { enterPhase, tellTools, type RunState } from "./run-state.ts"

/** What a run that goes on begins with. */
export interface Restored {
  open: OpenRound | undefined
}

/** Brings a new state to where the log of its run ends, but for the round that was under way. */
export function restoreRun(state: RunState, folded: FoldedRun): Restored {
  const { counters, notes, open, rounds, ids } = folded
  restorePhases(state, folded)
  restoreConversation(state, folded)
  restoreCalls(state, folded)
  for (const note of notes) state.ledger.note(note)
  if (folded.work !== undefined) state.gate.resume(folded.work, interruptedWork(folded, state.tools), state.signal)
  restoreIds(state, folded)
  state.rounds = open?.round ?? rounds
  state.calls = Math.max(counters?.named ?? 0, ids.length)
  if (counters !== undefined) restoreCounters(state, counters)
  for (const { call, result } of open?.ended.values() ?? []) state.catalogue.show(shownIn(call.name, result.data))
  return { open }
}

function restoreConversation(state: RunState, { conversation, calls }: FoldedRun): void {
  if (conversation === undefined) return
  state.conversation.restore(conversation.messages)
  for (const { call, result } of calls.flat()) state.catalogue.show(shownIn(call.name, result.data))
  // Other tools may be on offer, or another model that is told of them in another way.
  tellTools(state, state.dialogue.plan)
}

/** Before anything else: what comes after it belongs to the phase. */
function restorePhases(state: RunState, { phases, calls }: FoldedRun): void {
  if (state.work === undefined || phases === undefined) return
  state.work.restore(phases, calls)
  enterPhase(state)
}

function restoreCalls({ tools, ledger, loops, work }: RunState, { calls, phases }: FoldedRun): void {
  const all = new Map(work?.allTools.map((tool) => [tool.name, tool]))
  for (const [at, round] of calls.entries()) {
    ledger.beginRound()
    for (const { call, result } of round) {
      const tool = tools.get(call.name) ?? all.get(call.name)
      ledger.record(tool?.name ?? call.name, call.arguments, result, tool)
      if (at >= (phases?.open?.from ?? 0)) loops.observe(call.name, call.arguments, result)
    }
  }
}

function restoreIds(state: RunState, { ids, open }: FoldedRun): void {
  // Calls of the round that was under way get their numbers again as they are made.
  const before = ids.slice(0, ids.length - (open?.reply.calls.length ?? 0))
  for (const id of before) state.indexes.set(id, state.indexes.size + 1)
  for (const id of ids) state.ids.add(id)
}

function restoreCounters(state: RunState, counters: NonNullable<FoldedRun["counters"]>): void {
  const { nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs, totalMs } = counters
  Object.assign(state, { nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs })
  state.started = performance.now() - totalMs
}

/** What was under way when the earlier process died. */
function interruptedWork({ open }: FoldedRun, tools: Toolset): InterruptedWork {
  const begun = (open?.reply.calls ?? []).filter(({ id }) => open!.begun.has(id))
  if (begun.length === 0) return "none"
  const handsIn = begun.every(({ name, arguments: args }) => {
    const tool = tools.get(name)
    return tool !== undefined && roleOf(tool, args)?.role === "commits"
  })
  return handsIn ? "hands-in" : "other"
}

/** What is put on record before a call takes effect. */
export function startingEffect(
  { id: callId, tool, arguments: args }: CheckedCall,
  key: string,
  index: number,
): StartingEffect {
  return { callId, index, key, tool: tool.name, declared: declaredEffect(tool, args) }
}

/**
 * What becomes of a call that was made or begun before: its result, where its end is known, or where it can be found
 * out; nothing where it may be run, for the first time or again.
 */
export async function settledCall(
  { ended, begun, redacted }: OpenRound,
  call: ToolCall,
  { runId, tools }: { runId: string; tools: Toolset },
): Promise<SettledCall | undefined> {
  const known = ended.get(call.id)
  if (known !== undefined) return { args: known.call.arguments, result: known.result, known: true }
  const started = begun.get(call.id)
  if (redacted.has(call.id)) {
    const result = started === undefined ? notKept(call) : outcomeUnknown(call)
    return { args: call.arguments, result, known: false }
  }
  if (started === undefined) return undefined
  const result = await outcomeOf(call, started, { runId, tools })
  return result === undefined ? undefined : { args: call.arguments, result, known: false }
}

async function outcomeOf(
  call: ToolCall,
  { key, declared, startedAt }: BegunCall,
  { runId, tools }: { runId: string; tools: Toolset },
): Promise<ToolResult | undefined> {
  const { id, name, arguments: args } = call
  const tool = tools.get(name)
  if (tool?.reconcile !== undefined) {
    const interrupted = { arguments: args, runId, callId: id, idempotencyKey: key, startedAt }
    const found = await tool.reconcile(interrupted).catch(() => undefined)
    if (found !== undefined) return found.outcome === "done" ? found.result : undefined
  }
  // What the tool says now counts only where it said so when the call began.
  const repeatable = declared === "readOnly" || declared === "idempotent" || declared === "key"
  if (repeatable && tool !== undefined && stillRepeatable(tool, args)) return undefined
  return outcomeUnknown(call)
}

function outcomeUnknown({ name }: ToolCall): ToolResult {
  return failure({
    code: "OUTCOME_UNKNOWN",
    message:
      `The run was interrupted while '${name}' was being carried out: whether it took effect is not known, and it ` +
      "was not run again.",
    hint: "Find out what is there before you do it again.",
    metadata: { outcomeUnknown: true },
  })
}

/** The log holds no secrets, so what the call was to be run with is gone. */
function notKept({ name }: ToolCall): ToolResult {
  return failure({
    code: "ARGUMENTS_NOT_KEPT",
    message:
      `The run was interrupted before '${name}' was run, and its arguments held a secret, which is not kept: it ` +
      "was not run.",
    hint: "Make the call again with all that it needs.",
    retryable: true,
  })
}

function stillRepeatable(tool: NonNullable<ReturnType<Toolset["get"]>>, args: JsonObject): boolean {
  const effects = effectsOf(tool, args)
  return effects?.readOnly === true || effects?.idempotent === true || effects?.keyed === true
}
