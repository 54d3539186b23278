import {
  effectsOf,
  failure,
  type CheckedCall,
  type JsonObject,
  type ToolCall,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import { declaredEffect, type StartingEffect } from "../record/effects.ts"
import type { BegunCall, FoldedRun, OpenRound } from "../record/fold.ts"
import type { SettledCall } from "./batch.ts"
import { tellTools, type RunState } from "./run-state.ts"

/** What a run that goes on begins with. */
export interface Restored {
  open: OpenRound | undefined
}

/** Brings a new state to where the log of its run ends, but for the round that was under way. */
export function restoreRun(state: RunState, folded: FoldedRun): Restored {
  const { conversation, counters, notes, calls, ids, open, rounds } = folded
  const { tools, ledger, loops } = state
  if (conversation !== undefined) {
    state.conversation.restore(conversation.messages)
    // Other tools may be on offer, or another model that is told of them in another way.
    tellTools(state, state.dialogue.plan)
  }
  for (const round of calls) {
    ledger.beginRound()
    for (const { call, result } of round) {
      const tool = tools.get(call.name)
      ledger.record(tool?.name ?? call.name, call.arguments, result, tool)
      loops.observe(call.name, call.arguments, result)
    }
  }
  for (const note of notes) ledger.note(note)
  const before = ids.slice(0, ids.length - (open?.reply.calls.length ?? 0))
  for (const id of before) state.indexes.set(id, state.indexes.size + 1)
  for (const id of ids) state.ids.add(id)
  state.rounds = open?.round ?? rounds
  state.calls = Math.max(counters?.named ?? 0, ids.length)
  if (counters !== undefined) {
    const { nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs, totalMs } = counters
    Object.assign(state, { nudges, artifacts, inputTokens, outputTokens, modelMs, toolMs })
    state.started = performance.now() - totalMs
  }
  return { open }
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
 * What becomes of a call that was made or begun before: its result, where its end is known, or where it can be found out;
 * nothing where it may be run, for the first time or again.
 */
export async function settledCall(
  { ended, begun }: OpenRound,
  call: ToolCall,
  { runId, tools }: { runId: string; tools: Toolset },
): Promise<SettledCall | undefined> {
  const known = ended.get(call.id)
  if (known !== undefined) return { args: known.call.arguments, result: known.result, known: true }
  const started = begun.get(call.id)
  if (started === undefined) return undefined
  const result = await outcomeOf(call, started, { runId, tools })
  return result === undefined ? undefined : { args: call.arguments, result, known: false }
}

async function outcomeOf(
  { id, name, arguments: args }: ToolCall,
  { key, declared, startedAt }: BegunCall,
  { runId, tools }: { runId: string; tools: Toolset },
): Promise<ToolResult | undefined> {
  const tool = tools.get(name)
  if (tool?.reconcile !== undefined) {
    const call = { arguments: args, runId, callId: id, idempotencyKey: key, startedAt }
    const found = await tool.reconcile(call).catch(() => undefined)
    if (found !== undefined) return found.outcome === "done" ? found.result : undefined
  }
  // What the tool says now counts only where it said so when the call began.
  const repeatable = declared === "readOnly" || declared === "idempotent" || declared === "key"
  if (repeatable && tool !== undefined && stillRepeatable(tool, args)) return undefined
  return failure({
    code: "OUTCOME_UNKNOWN",
    message: `The run was interrupted while '${name}' was being carried out: whether it took effect is not known, and it was not run again.`,
    hint: "Find out what is there before you do it again.",
    metadata: { outcomeUnknown: true },
  })
}

function stillRepeatable(tool: NonNullable<ReturnType<Toolset["get"]>>, args: JsonObject): boolean {
  const effects = effectsOf(tool, args)
  return effects?.readOnly === true || effects?.idempotent === true || effects?.keyed === true
}
