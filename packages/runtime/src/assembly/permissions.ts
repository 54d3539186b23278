import type { PermissionPolicy, PermissionRule } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"

/** The permission policy of a configuration. Deny stands last, so it wins over ask. */
export function permissionsFor(
  { permissions }: Configuration,
  approve: PermissionPolicy["approve"] | undefined,
): PermissionPolicy | undefined {
  const { deny = [], ask = [], denyPaths = [] } = permissions
  const rules: PermissionRule[] = [
    ...ask.map((tool) => ({ tool, permission: "ask" as const })),
    ...deny.map((tool) => ({ tool, permission: "deny" as const })),
  ]
  if (rules.length === 0 && denyPaths.length === 0) return undefined
  return { rules, denyPaths, ...(approve === undefined ? {} : { approve }) }
}
