import type { JsonObject, JsonSchema } from "./schema.ts"
import type { ToolResult } from "./result.ts"
import type { ToolHost } from "./host.ts"
import type { WorkWatch } from "./work.ts"

export const TOOL_CATEGORIES = ["code", "vcs", "build", "research", "publish", "orchestration", "utility"] as const

/** What a tool is for. */
export type ToolCategory = (typeof TOOL_CATEGORIES)[number]

export const OPTIONALITIES = ["required", "optional", "conditional"] as const

/**
 * How much an agent depends on a tool: `required`, it cannot work without it; `optional`, it improves the output;
 * `conditional`, it is required when a condition holds (the usage hint names it).
 */
export type Optionality = (typeof OPTIONALITIES)[number]

/** A sample call, shown in prompts and run as a test. `output` is what such a call answers, when that helps. */
export interface ToolExample {
  description: string
  input: JsonObject
  output?: unknown
}

/**
 * What a call does to the world, as data. `reads` and `writes` name the arguments that hold paths (`"path"`,
 * `"edits[].path"` reaches into arrays), so that caches, permission rules and completion gates can act on them. A tool
 * that says nothing is taken to have effects: only `readOnly: true` makes it cacheable and safe to run beside others.
 */
export interface ToolEffects {
  readOnly?: boolean
  destructive?: boolean
  idempotent?: boolean
  /** It hands `ToolContext.idempotencyKey` on to whoever carries it out, who does nothing twice under one key. */
  keyed?: boolean
  network?: boolean
  reads?: readonly string[]
  writes?: readonly string[]
}

/**
 * Other spellings that models use: of the tool's name, and of its arguments (`{ file_path: "file_paths" }`).
 * `list[].alias` is one of a field of each entry of a list (`{ "edits[].oldText": "old_text" }`).
 */
export interface ToolAliases {
  names?: readonly string[]
  arguments?: Readonly<Record<string, string>>
}

/**
 * What a call does for work that is to be handed in: `validates` checks it, `commits` records it in a repository,
 * `hands-in` gives it to others (a push).
 */
export type WorkRole = "validates" | "commits" | "hands-in"

/**
 * The role of a call, or how to read it from the arguments where they decide, as in a shell. What a tool says of its
 * role counts only where the tool is of this process: no server of somebody else's can say that work was checked.
 */
export type ToolRole = WorkRole | ((args: JsonObject) => RoleOfCall | undefined)

/**
 * A role read from arguments. `alsoChanges`: beside it the call may change what was checked. `skipsHooks`: it commits
 * past what the repository runs before a commit.
 */
export interface RoleOfCall {
  role: WorkRole
  alsoChanges?: boolean
  skipsHooks?: boolean
}

/** Where a tool comes from: this process, a REST tools service, or an imported MCP server; and which one. */
export interface ToolProvenance {
  kind: "local" | "rest" | "mcp"
  name: string
}

/** What a handler gets besides its arguments: its call, and what it may use of the machine. */
export interface ToolContext extends ToolHost {
  /** Aborted when the caller cancels or the time limit is over; `signal.reason` tells which. */
  readonly signal: AbortSignal
  /** Identifies this call in events and records. */
  readonly callId: string
  /** The run this call belongs to, when there is one. */
  readonly runId?: string
  /**
   * Who makes the call, where a surface tells callers apart: an opaque name of a token or a connection. What a tool
   * keeps between calls belongs to their run, else to their caller; where there is neither, it keeps nothing.
   */
  readonly caller?: string
  /**
   * The same for a call that is made again, as after a lost answer, and no other's: for services that carry a request
   * out once for its key.
   */
  readonly idempotencyKey: string
  /** Reports progress; `progress` and `total` are in the tool's own unit. */
  progress(update: { message?: string; progress?: number; total?: number }): void
}

/**
 * Runs a call. It may return a {@link ToolResult} or throw; the execute pipeline turns whatever happens into a result.
 */
export type ToolHandler = (args: JsonObject, context: ToolContext) => Promise<ToolResult> | ToolResult

/** A call that was begun in a process that died. */
export interface InterruptedCall {
  readonly arguments: JsonObject
  readonly runId: string
  readonly callId: string
  readonly idempotencyKey: string
  /** When it was begun, in milliseconds since 1970. */
  readonly startedAt: number
}

/** What became of an interrupted call. */
export type Reconciled = { outcome: "done"; result: ToolResult } | { outcome: "not-done" }

/** One action of a multi-action tool, for the view that presents each action as a tool of its own. */
export interface ToolAction {
  /** The value of the discriminating argument, e.g. `grep` for `search` with `action: "grep"`. */
  action: string
  description: string
  /** Name of the single-action tool; `{tool}_{action}` unless given. */
  name?: string
  effects?: ToolEffects
  examples?: readonly ToolExample[]
  usageHint?: string
  role?: ToolRole
  does?: readonly string[]
  asks?: boolean
  ruledAs?: RuledAs
  /** Sets that this action is offered in beside those of its tool. */
  sets?: readonly string[]
  brief?: readonly string[]
}

/**
 * Names of other tools and actions that do what a call does: a rule that denies one of them, or asks about it, holds
 * for the call too, since rules are about what is done. Never a reason to allow it.
 */
export type RuledAs = readonly string[] | ((args: JsonObject) => readonly string[])

/**
 * The canonical representation of a tool, whatever its source and whichever model will call it. Make one with
 * `defineTool`.
 *
 * `schema` is the parameters' JSON Schema (2020-12) with type `object`; `outputSchema` describes `ToolResult.data`.
 * `produces` and `consumes` name artifacts. `capabilities` name what must be there for it to run (`"git"`,
 * `"env:GITHUB_TOKEN"`), see `detectCapabilities`. `modes` limits the modes in which it is offered; without it, all.
 */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly category: ToolCategory
  readonly optionality: Optionality
  readonly parameters: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly title?: string
  readonly usageHint?: string
  readonly examples?: readonly ToolExample[]
  readonly produces?: readonly string[]
  readonly consumes?: readonly string[]
  readonly tags?: readonly string[]
  readonly modes?: readonly string[]
  readonly effects?: ToolEffects
  readonly aliases?: ToolAliases
  readonly capabilities?: readonly string[]
  /** What it does for work that is handed in, where it does something; an action may say so itself. */
  readonly role?: ToolRole
  /**
   * The sets it is offered in (`coding`, `reading`, `general`, …): agents choose sets, and never names. Without it the
   * tool belongs to `general` alone, as tools of applications and of other servers do.
   */
  readonly sets?: readonly string[]
  /**
   * The optional arguments that stand in its short declaration, in which small windows are told of it, and of several
   * actions those that do; all are taken. Without it the declaration has them all; where it names no action, it has all
   * actions.
   */
  readonly brief?: readonly string[]
  /**
   * What can be done with it, in words that an error may name as the next step (`list a directory`); the pipeline turns
   * them into a call of a tool that is on offer.
   */
  readonly does?: readonly string[]
  /**
   * Whether a careful application asks a person before it runs: it deletes, moves, publishes, or may do anything at
   * all.
   */
  readonly asks?: boolean
  /** What else rules may call what it does; an action may say so itself. */
  readonly ruledAs?: RuledAs
  /**
   * Why a call should not run unasked as things stand, such as a program that nothing contains on this machine;
   * undefined where nothing speaks against it.
   */
  readonly doubts?: (args: JsonObject) => Promise<string | undefined>
  /**
   * What a call is about, where no argument is declared to hold a path: the programs of a command line. A failure
   * counts as put right by a later success about the same.
   */
  readonly subjects?: (args: JsonObject) => readonly string[]
  /**
   * What a call would do to what is there, in words for a person who is to permit it: the lines that it would replace.
   * Changes nothing; undefined where there is nothing to say, also when the call would fail.
   */
  readonly preview?: (args: JsonObject) => Promise<string | undefined>
  /**
   * Finds out whether a call took effect whose end nobody saw, since its process died: `done`, with its result;
   * `not-done`, so that it may be run; undefined where it cannot be told. Changes nothing.
   */
  readonly reconcile?: (call: InterruptedCall) => Promise<Reconciled | undefined>
  /** Looks at the work that the tool acts on, so that nobody has to believe what is said about it. */
  readonly work?: WorkWatch
  /** The argument that selects the action of a multi-action tool, and its actions (one `oneOf` branch each). */
  readonly actions?: { readonly argument: string; readonly list: readonly ToolAction[] }
  /**
   * Of a tool that is one action of another: the name of that other one, by which permission rules may speak of it too.
   */
  readonly actionOf?: string
  /** Longest time a call may take, in milliseconds; the executor's default otherwise. */
  readonly timeoutMs?: number
  /** Longest `output` that a model is shown, in characters; the executor's default otherwise. */
  readonly maxOutputChars?: number
  readonly provenance?: ToolProvenance
  /**
   * What of a tool from elsewhere is not as it was when it was let in ("its description"): what was let in was another
   * one, so a call has to be approved, and is refused where nobody can be asked.
   */
  readonly changed?: string
  /** Lets a changed tool in as it is told now: somebody approved a call of it. */
  readonly letIn?: () => void
  readonly handler: ToolHandler
}

declare const TYPES: unique symbol

/** A tool of which the compiler knows the name, the arguments as a call gives them, and the data of a success. */
export interface TypedTool<Name extends string = string, Args = JsonObject, Data = unknown> extends ToolDefinition {
  readonly name: Name
  /** For the compiler alone. */
  readonly [TYPES]?: { arguments: Args; data: Data }
}

/**
 * A named set of tools: those that say that they belong to it (`ToolDefinition.sets`), and those that it names.
 * Applying it reports named ones that are not registered.
 */
export interface ToolBundle {
  readonly name: string
  readonly description: string
  readonly tools?: readonly string[]
}

/** A call as decoded from a model's reply: the tool's name, its arguments, and the id that its result must carry. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
}

/** The serialised fields of a definition; the handler is never among them. */
export function serializeTool(tool: ToolDefinition): JsonObject {
  const { name, description, category, optionality, parameters: schema } = tool
  const wire: JsonObject = { name, description, category, optionality, schema }
  if (tool.usageHint !== undefined) wire.usage_hint = tool.usageHint
  if (tool.examples !== undefined && tool.examples.length > 0) wire.examples = tool.examples
  if (tool.produces !== undefined && tool.produces.length > 0) wire.produces = tool.produces
  if (tool.consumes !== undefined && tool.consumes.length > 0) wire.consumes = tool.consumes
  return wire
}
