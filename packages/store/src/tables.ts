import type { Generated } from "kysely"

/**
 * Our tables, as rows. Ids are text, times are milliseconds since 1970, and JSON is text, so that both databases give
 * the same values. What the columns mean stands here alone; `migrations/` makes them.
 */
export interface Tables {
  tasks: TaskTable
  task_dependencies: { task: string; depends_on: string }
  runs: RunTable
  run_events: EventTable
  bodies: { hash: string; content: string; size: number; created_at: number }
  effects: EffectTable
  approvals: ApprovalTable
  agents: AgentTable
  owned_files: { workspace: string; path: string; agent: string; created_at: number; sign: string | null }
  database_owner: { id: string; mark: string }
  conversations: { id: string; title: string; created_at: string; updated_at: string; owner: Generated<string> }
  conversation_messages: { conversation_id: string; position: number; message: string }
}

export const TASK_STATES = [
  "queued",
  "waiting",
  "running",
  "needs-approval",
  "done",
  "failed",
  "blocked",
  "cancelled",
  "abandoned",
] as const
export type TaskState = (typeof TASK_STATES)[number]

export interface TaskTable {
  id: string
  /** The task that asked for this one; `depth` counts them, and the database refuses more than `max_depth`. */
  parent: string | null
  depth: Generated<number>
  max_depth: Generated<number>
  /** Tasks that were planned together. */
  plan: string | null
  agent: string
  /** JSON: what is to be done, and whatever the agent is given with it. */
  input: string
  /** Higher ones first. */
  priority: Generated<number>
  state: Generated<TaskState>
  attempts: Generated<number>
  max_attempts: Generated<number>
  not_before: number | null
  /** Unique: the same order given twice is one task. */
  idempotency_key: string | null
  workspace: string | null
  /** JSON: rounds, tokens, milliseconds, money. */
  budget: string | null
  /** JSON. */
  result: string | null
  /** Why it stands as it does, for a person. */
  reason: string | null
  /** The run of its last attempt. */
  run: string | null
  /** Each claim raises it; whoever has an older one changes nothing more. */
  fence: Generated<number>
  /** Who works on it, and when they were last heard of. */
  holder: string | null
  heartbeat: number | null
  /** How many tasks wait or waited for it. */
  dependants: Generated<number>
  created_at: number
  updated_at: number
  started_at: number | null
  ended_at: number | null
}

/** `waiting`: for an approval, and no process holds it. */
export const RUN_STATES = ["running", "waiting", "ended"] as const
export type RunState = (typeof RUN_STATES)[number]

export interface RunTable {
  id: string
  task: string | null
  agent: string
  model: string
  /** What is to be done, in the words it was given in. */
  title: string
  /** Where it was asked for: `run`, `chat`, `http`, `mcp`, `tools`, `gateway`, `worker`, … */
  surface: string
  workspace: string | null
  /** Who asked, where callers are told apart. */
  caller: string | null
  state: Generated<RunState>
  outcome: string | null
  /** JSON: what it came to. */
  summary: string | null
  /** Each claim raises it; nothing is written under an older one. */
  fence: Generated<number>
  /** Who holds the claim, and when it was last heard of. */
  holder: string | null
  heartbeat: number | null
  /** The run that this one branched off, after its event `parent_seq`. */
  parent_run: string | null
  parent_seq: number | null
  /** The run that this one is about: what that one changed is taken back here. */
  about: string | null
  /** The run in which its agent was called, by which call, and that call's key: the same where it is made again. */
  asked_by: string | null
  asked_call: string | null
  asked_key: string | null
  /** How many agents have asked each other down to it; the database refuses more than `max_depth`. */
  depth: Generated<number>
  max_depth: Generated<number>
  started_at: number
  ended_at: number | null
}

export interface EventTable {
  run: string
  seq: number
  type: string
  time: number
  fence: number
  /** JSON, or in `body_ref` the hash under which it stands among the bodies; neither once it has been erased. */
  body: string | null
  body_ref: string | null
  /** Goes with the body when it is erased, so that nobody can guess what stood there. */
  salt: string | null
  /** SHA-256 of salt and body, kept only where these have been erased. */
  digest: string | null
  /** SHA-256 of the event before and of this one. */
  hash: string
}

export const EFFECT_STATES = ["started", "done", "unknown"] as const
export type EffectState = (typeof EFFECT_STATES)[number]

export interface EffectTable {
  run: string
  /** Which call of the run it is, from 1. */
  call_index: number
  call_id: string
  /** Of run, index, tool and canonical arguments: the same for every attempt. */
  key: string
  tool: string
  /** What a start without an end means: `readOnly`, `idempotent`, `key`, `reconcile` or `none`. */
  declared: string
  state: Generated<EffectState>
  attempts: Generated<number>
  fence: number
  started_at: number
  ended_at: number | null
  /** JSON: what its tool noted beforehand, to tell afterwards whether it happened. */
  before: string | null
}

export const APPROVAL_STATES = ["pending", "allowed", "denied", "expired", "cancelled", "consumed"] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

export interface ApprovalTable {
  id: string
  run: string | null
  task: string | null
  call_index: number | null
  tool: string
  /** JSON, without secrets; `arguments_hash` is of the arguments as they were. */
  arguments: string
  arguments_hash: string
  /** The rules under which it was asked: another set asks anew. */
  policy: string
  question: string | null
  state: Generated<ApprovalState>
  created_at: number
  expires_at: number | null
  answered_at: number | null
  answered_by: string | null
  note: string | null
  consumed_at: number | null
}

export interface AgentTable {
  id: string
  /** The folder that it works in: nothing where the database is the folder's own. */
  workspace: Generated<string>
  /** Unique in its workspace. */
  name: Generated<string>
  /** The kind of agent that it is one of. */
  profile: string
  /** JSON. */
  definition: string
  state: Generated<string>
  created_at: number
  updated_at: number
}
