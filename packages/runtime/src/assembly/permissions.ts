import type { PermissionPolicy, PermissionRule } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"

/**
 * The permission policy of a configuration. Deny stands last, so it wins over allow, and allow over ask. Where no rule
 * speaks, a call that has doubts, such as a program that nothing contains, is asked about.
 *
 * @param wary calls that are asked about although the configuration does not say so, unless it allows them
 */
export function permissionsFor(
  { permissions }: Configuration,
  approve: PermissionPolicy["approve"] | undefined,
  wary: readonly PermissionRule[] = [],
): PermissionPolicy {
  const { allow = [], deny = [], ask = [], denyPaths = [], careful } = permissions
  const rules: PermissionRule[] = [
    ...wary,
    ...ask.map((tool) => ({ tool, permission: "ask" as const })),
    ...allow.map((tool) => ({ tool, permission: "allow" as const })),
    ...deny.map((tool) => ({ tool, permission: "deny" as const })),
  ]
  return { rules, denyPaths, careful, doubtful: true, ...(approve === undefined ? {} : { approve }) }
}
