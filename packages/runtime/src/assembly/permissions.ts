import { ToolwrightError, type PermissionPolicy, type PermissionRule } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"

const LISTS = ["allow", "deny", "ask"] as const

/** For whom a policy is made. */
export interface PolicyFor {
  readonly approve: PermissionPolicy["approve"] | undefined
  /** Name of the agent whose own rules count too. */
  readonly agent?: string
  /** Calls that are asked about although the configuration does not say so, unless it allows them. */
  readonly wary?: readonly PermissionRule[]
}

/**
 * The permission policy of a configuration. Deny stands last, so it wins over allow, and allow over ask; an agent's own
 * rules stand after those for all, save that nothing allows what either denies. Where no rule speaks, a call that has
 * doubts, such as a program that nothing contains, is asked about.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where the rules of an agent are no lists
 */
export function permissionsFor(
  { permissions }: Configuration,
  { approve, agent, wary = [] }: PolicyFor,
): PermissionPolicy {
  const { careful, agents = {} } = permissions
  for (const [name, rules] of Object.entries(agents)) checkRules(name, rules)
  const own = agent !== undefined && Object.hasOwn(agents, agent) ? agents[agent]! : {}
  const ruled = (tools: readonly string[] | undefined, permission: "allow" | "ask" | "deny"): PermissionRule[] =>
    (tools ?? []).map((tool) => ({ tool, permission }))
  const rules: PermissionRule[] = [
    ...wary,
    ...ruled(permissions.ask, "ask"),
    ...ruled(permissions.allow, "allow"),
    ...ruled(own.ask, "ask"),
    ...ruled(own.allow, "allow"),
    ...ruled(permissions.deny, "deny"),
    ...ruled(own.deny, "deny"),
  ]
  const { denyPaths = [] } = permissions
  return { rules, denyPaths, careful, doubtful: true, ...(approve === undefined ? {} : { approve }) }
}

function checkRules(agent: string, rules: unknown): void {
  const refuse = (wrong: string): never => {
    throw new ToolwrightError("INVALID_CONFIGURATION", `permissions.agents: '${agent}' ${wrong}.`, {
      hint: "Write, for example: permissions: { agents: { reviewer: { deny: [bash] } } }",
    })
  }
  if (typeof rules !== "object" || rules === null || Array.isArray(rules)) return refuse("must be a mapping")
  for (const [key, list] of Object.entries(rules) as [string, unknown][]) {
    if (!(LISTS as readonly string[]).includes(key)) refuse(`has no '${key}'; there are ${LISTS.join(", ")}`)
    if (!Array.isArray(list) || !list.every((entry) => typeof entry === "string"))
      refuse(`needs a list of texts for ${key}`)
  }
}
