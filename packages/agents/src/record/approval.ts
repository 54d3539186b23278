import { createHash } from "node:crypto"
import { APPROVAL_LASTS_MS, type ApprovalRow, type NewApproval } from "@toolwright/store"
import {
  canonicalJson,
  tellingOf,
  type JsonObject,
  type PermissionPolicy,
  type ToolDefinition,
} from "@toolwright/toolbox"
import { callerName } from "@toolwright/toolbox/caller-name"

/** A call about which somebody is to be asked. */
export interface AskedQuestion {
  callId: string
  /** Which call of the run it is, from 1. */
  index: number
  tool: string
  arguments: JsonObject
  question: string
  /** The rules under which it is asked; see {@link policyMark}. */
  policy: string
}

/** The answer to a question: yes, why not, or the id under which it waits. */
export type Answer = true | string | { waiting: string }

/**
 * A mark of rules, and of a tool that is not what it was when it was let in: an answer counts only under the rules, and
 * for the tool, that it was asked about.
 */
export function policyMark(
  { rules = [], narrowedBy = [], otherwise, careful, doubtful, denyPaths = [] }: PermissionPolicy,
  tool: ToolDefinition,
): string {
  const plain = rules.map(({ tool: pattern, permission }) => [pattern, permission])
  const narrower = narrowedBy.map(({ tool: pattern, permission }) => ["narrowed", pattern, permission])
  const told = tool.changed === undefined ? [] : [tellingOf(tool)]
  return digest([plain, otherwise ?? "allow", careful === true, doubtful === true, denyPaths, ...narrower, ...told])
}

/** The question about a call, with what a changed tool says now. */
export function questionAbout({ name, changed, description }: ToolDefinition): string {
  const now = changed === undefined ? "" : ` Since it was let in, ${changed} changed; it says now: ${description}`
  return `May '${name}' run?${now}`.slice(0, 2000)
}

/** @param safe the arguments as JSON, without secrets */
export function newQuestion(
  run: string,
  { index, tool, arguments: args, question, policy }: AskedQuestion,
  { time, safe }: { time: number; safe: string },
): NewApproval {
  return {
    id: crypto.randomUUID().slice(0, 8),
    run,
    callIndex: index,
    tool,
    arguments: safe,
    argumentsHash: digest(args),
    policy,
    question,
    time,
    expiresAt: time + APPROVAL_LASTS_MS,
  }
}

/** What an answer comes to; nothing where it has to be asked anew. */
export function answerIn({ id, state, answered_by: by, note }: ApprovalRow): Answer | undefined {
  if (state === "pending") return { waiting: id }
  // Used up by this very call, whose process died: it is made again only where that does no harm.
  if (state === "allowed" || state === "consumed") return true
  if (state === "denied") return `${callerName(by)} said no${note === null ? "" : `: ${note}`}`
  return state === "expired" ? "nobody answered in time" : undefined
}

function digest(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex")
}
