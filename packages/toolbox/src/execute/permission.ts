import { canonicalJson } from "../cache/canonical.ts"
import { actionOf, asksFirst } from "../model/about.ts"
import type { CallPermission } from "../model/events.ts"
import { failure, type ToolResult } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { splitActions } from "../registry/split-actions.ts"
import { argumentPaths } from "./effects.ts"
import { foldName, foldPattern, wildcard } from "./wildcard.ts"

export type Permission = "allow" | "deny" | "ask"

/**
 * A rule for the tools whose name matches `tool` (`*` and `?` stand for characters). Of a tool with actions both names
 * count, its own (`git`) and that of the action by itself (`git_commit`), in whichever form it is offered. A rule that
 * denies or asks speaks of what is done: it holds for every other tool that does the same (`ToolDefinition.ruledAs`).
 */
export interface PermissionRule {
  tool: string
  permission: Permission
  /** The rule counts only for calls of which this holds, as for one that would replace something. */
  when?(args: JsonObject): boolean
}

/**
 * What may run. The last matching rule decides; `denyPaths` are looked at last and always win. `ask` is put to
 * `approve`; where nobody can be asked (headless), it means deny.
 */
export interface PermissionPolicy {
  rules?: readonly PermissionRule[]
  /**
   * Rules that count beside these: what they ask about or deny nothing here allows, and what they allow they allow to
   * nobody.
   */
  narrowedBy?: readonly PermissionRule[]
  /** What holds where no rule matches; `allow` unless given. */
  otherwise?: Permission
  /** Asks about calls that say that they should be asked about (`ToolDefinition.asks`), where no rule matches. */
  careful?: boolean
  /** Asks about calls that have doubts as things stand (`ToolDefinition.doubts`), where no rule matches. */
  doubtful?: boolean
  /**
   * Patterns of paths that no call may name in an argument that it reads or writes (`.env`, `*.key`, `private/*`),
   * compared as the laxest file system would, so that `.ENV` is `.env`. This is about what a call
   * says; what links, searches and programs reach is the matter of whoever opens files.
   */
  denyPaths?: readonly string[]
  /** Whether the call may run; a text says why not. */
  approve?(call: AskedCall, signal: AbortSignal): Promise<boolean | string>
}

/** A call about which somebody is asked. */
export interface AskedCall {
  tool: ToolDefinition
  arguments: JsonObject
  callId?: string
}

/**
 * What the rules say of a call, before anybody is asked, and why; with the result that refuses it where they deny it.
 */
export type Ruling = { because: string } & (
  | { permission: "allow" | "ask" }
  | { permission: "deny"; refused: ToolResult }
)

/** Looks a call up in the rules. Nobody is asked. */
export function rulingFor(policy: PermissionPolicy | undefined, tool: ToolDefinition, args: JsonObject): Ruling {
  const changed = changeOf(tool)
  if (policy === undefined) return changed === undefined ? ruled("allow", NO_RULES) : ruled("ask", changed)
  const forbidden = forbiddenPath(policy, tool, args)
  if (forbidden !== undefined) {
    const refused = denied(`'${tool.name}' may not touch '${forbidden}': the permission rules deny this path.`)
    return { permission: "deny", because: `the path '${forbidden}' is denied`, refused }
  }
  const { permission, because } = byRules(policy, tool, args)
  if (permission === "deny") return { permission, because, refused: denied(`'${tool.name}' is not permitted here.`) }
  return changed === undefined ? { permission, because } : ruled("ask", changed)
}

/** The same with the doubts that a tool has about a call as things stand: what it would come to if it were made now. */
export async function outlookOf(
  policy: PermissionPolicy | undefined,
  tool: ToolDefinition,
  args: JsonObject,
): Promise<Ruling & { doubt?: string }> {
  const ruling = rulingFor(policy, tool, args)
  if (ruling.permission === "deny") return ruling
  const doubt = changeOf(tool) ?? (policy === undefined ? undefined : await doubtAbout(policy, tool, args))
  return doubt === undefined ? ruling : { ...ruled("ask", doubt), doubt }
}

const NO_RULES = "there are no rules here"
const ruled = (permission: "allow" | "ask", because: string): Ruling => ({ permission, because })

function byRules(
  policy: PermissionPolicy,
  tool: ToolDefinition,
  args: JsonObject,
): { permission: Permission; because: string } {
  const rule = ruleFor(policy, tool, args)
  if (rule !== undefined) return { permission: rule.permission, because: `the rule for '${rule.tool}'` }
  if (policy.careful === true && asksFirst(tool, args))
    return { permission: "ask", because: "care is taken with calls like this one" }
  return { permission: policy.otherwise ?? "allow", because: "no rule speaks of it" }
}

/** Whether a call may run: the result that refuses it, or nothing; and how that was settled. */
export interface Permitted {
  told: CallPermission
  refused?: ToolResult
}

/**
 * Looks a call up in the rules, and asks where they say so.
 *
 * @param now the tool of that name as it is now: what was approved is what was shown, and no tool that became another
 *   while somebody thought about it
 */
export async function permit(
  policy: PermissionPolicy | undefined,
  call: AskedCall,
  signal: AbortSignal,
  now: () => ToolDefinition | undefined = () => call.tool,
): Promise<Permitted> {
  const { tool, arguments: args } = call
  const ruling = await outlookOf(policy, tool, args)
  const { because, doubt } = ruling
  if (ruling.permission === "deny") return { told: { ruling: "deny", because }, refused: ruling.refused }
  if (ruling.permission === "allow") return { told: { ruling: "allow", because } }
  const told = { ruling: "ask", because } as const
  if (policy?.approve === undefined)
    return { told: { ...told, answer: "nobody was there" }, refused: nobodyThere(tool, args, doubt) }
  const answer = await policy.approve(call, signal)
  if (answer === true && !tellsTheSame(tool, now())) {
    const message = `'${tool.name}' changed while it was asked about: what was approved is not there any more.`
    return { told: { ...told, answer: "approved" }, refused: denied(message, {}, ANEW) }
  }
  if (answer === true) {
    tool.letIn?.()
    return { told: { ...told, answer: "approved" } }
  }
  const why = typeof answer === "string" ? `: ${answer}` : ""
  return { told: { ...told, answer: "not approved" }, refused: denied(`'${tool.name}' was not approved${why}.`) }
}

const ANEW = "Look at the tool as it is now, and call it again: then it is asked about anew."

/** Whether somebody who is asked about both is told the same. */
function tellsTheSame(shown: ToolDefinition, now: ToolDefinition | undefined): boolean {
  if (shown === now || now === undefined) return shown === now
  const told = ({ description, title, parameters, outputSchema, effects, provenance, changed }: ToolDefinition) =>
    canonicalJson({ description, title, parameters, outputSchema, effects, provenance, changed })
  return told(shown) === told(now)
}

/** What the rules say themselves; undefined where none matches. */
function ruleFor(policy: PermissionPolicy, tool: ToolDefinition, args: JsonObject): PermissionRule | undefined {
  const own = lastOf(policy.rules, tool, args)
  const narrowed = lastOf(policy.narrowedBy, tool, args)
  return narrowed === undefined || narrowed.permission === "allow" || own?.permission === "deny" ? own : narrowed
}

function lastOf(
  rules: readonly PermissionRule[] | undefined,
  tool: ToolDefinition,
  args: JsonObject,
): PermissionRule | undefined {
  const names = namesOf(tool, args)
  const others = ruledAs(tool, args)
  const speaksOf = ({ tool: pattern, permission }: PermissionRule): boolean =>
    names.some((name) => wildcard(pattern, name)) ||
    (permission !== "allow" && others.some((name) => wildcard(pattern, name)))
  return rules?.findLast((rule) => speaksOf(rule) && rule.when?.(args) !== false)
}

/** Why a tool from elsewhere that is not what it was when it was let in has to be approved anew. */
function changeOf({ changed }: ToolDefinition): string | undefined {
  return changed === undefined ? undefined : `${changed} changed since it was let in`
}

async function doubtAbout(
  policy: PermissionPolicy,
  tool: ToolDefinition,
  args: JsonObject,
): Promise<string | undefined> {
  if (policy.doubtful !== true || ruleFor(policy, tool, args) !== undefined) return undefined
  return tool.doubts?.(args)
}

function nobodyThere(tool: ToolDefinition, args: JsonObject, doubt: string | undefined): ToolResult {
  const metadata = { permission: "ask" }
  if (doubt === undefined) return denied(`'${tool.name}' needs approval, and nobody is there to give it.`, metadata)
  return denied(
    `'${tool.name}' needs approval, for ${doubt}, and nobody is there to give it.`,
    metadata,
    tool.changed === undefined
      ? `Go on without this call. A person can permit it when starting: \`permissions.allow: ` +
          `[${namesOf(tool, args).at(-1)}]\``
      : "Go on without this call. A person can permit it where they are asked, or let the tool in as it is now: " +
          `toolwright trust source ${tool.provenance?.name ?? "NAME"}`,
  )
}

/** The names by which rules speak of a call, the narrowest last: of a tool, and of its one action. */
function namesOf(tool: ToolDefinition, args: JsonObject): string[] {
  if (tool.actionOf !== undefined) return [tool.actionOf, tool.name]
  const { actions } = tool
  const at = actions?.list.findIndex(({ action }) => action === args[actions.argument]) ?? -1
  return at === -1 ? [tool.name] : [tool.name, splitActions(tool)[at]!.name]
}

function ruledAs(tool: ToolDefinition, args: JsonObject): readonly string[] {
  const names = actionOf(tool, args)?.ruledAs ?? tool.ruledAs ?? []
  return typeof names === "function" ? names(args) : names
}

function forbiddenPath(policy: PermissionPolicy, tool: ToolDefinition, args: JsonObject): string | undefined {
  const patterns = (policy.denyPaths ?? []).map((pattern) =>
    pattern
      .split("/")
      .map((name) => foldPattern(name))
      .join("/"),
  )
  if (patterns.length === 0) return undefined
  const paths = [...argumentPaths(tool.effects?.reads, args), ...argumentPaths(tool.effects?.writes, args)]
  return paths.find((path) => {
    const parts = plainParts(path).map(foldName)
    const places = parts.map((_, index) => parts.slice(0, index + 1).join("/"))
    return patterns.some(
      (pattern) =>
        parts.some((name) => wildcard(pattern, name)) ||
        places.some((place) => wildcard(pattern, place) || wildcard(pattern, `/${place}`)),
    )
  })
}

/** The names in a path, without detours: `./a/../b//c` is `b/c`. */
function plainParts(path: string): string[] {
  const parts: string[] = []
  for (const part of path.split(/[/\\]/)) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  return parts
}

/** @param metadata says `permission: "ask"` where somebody could have permitted the call */
function denied(
  message: string,
  metadata: JsonObject = {},
  hint = "Go on without this call, or say what you would need it for.",
): ToolResult {
  return failure({ code: "PERMISSION_DENIED", message, metadata, hint })
}
