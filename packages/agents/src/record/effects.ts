import { createHash } from "node:crypto"
import type { Execute } from "@toolwright/store"
import { canonicalJson, effectsOf, type JsonObject, type ToolDefinition } from "@toolwright/toolbox"

/** What a start without an end means for a call, by what its tool says of itself. */
export type DeclaredEffect = "readOnly" | "idempotent" | "key" | "reconcile" | "none"

/** A call that is about to take effect. */
export interface StartingEffect {
  callId: string
  /** Which call of the run it is, from 1. */
  index: number
  key: string
  tool: string
  declared: DeclaredEffect
  before?: JsonObject
  /** Statements that belong to its start, such as the use of what permitted it. */
  permitted?: (execute: Execute) => Promise<void>
}

/** A second attempt finds the row of the first. */
export const INSERT_EFFECT = `INSERT INTO effects
    (run, call_index, call_id, key, tool, declared, fence, started_at, before)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run, call_index) DO UPDATE
  SET attempts = effects.attempts + 1, fence = excluded.fence, state = 'started'`

/** By its place in the run, which is the table's key: a model's ids are in no index. */
export const END_EFFECT = "UPDATE effects SET state = 'done', ended_at = ? WHERE run = ? AND call_index = ?"

/** The same for every attempt at a call, and for no other call. */
export function effectKey(run: string, index: number, tool: string, args: unknown): string {
  return createHash("sha256")
    .update(canonicalJson([run, index, tool, args]))
    .digest("hex")
    .slice(0, 40)
}

/** How an interrupted call of a tool is to be treated. */
export function declaredEffect(tool: ToolDefinition, args: JsonObject): DeclaredEffect {
  const effects = effectsOf(tool, args)
  if (effects?.readOnly === true) return "readOnly"
  if (tool.reconcile !== undefined) return "reconcile"
  if (effects?.idempotent === true) return "idempotent"
  return effects?.keyed === true ? "key" : "none"
}
