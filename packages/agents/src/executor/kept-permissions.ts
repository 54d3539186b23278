import type { PermissionPolicy } from "@toolwright/toolbox"
import type { KeptPermissions } from "../record/encode.ts"
import type { ExecutorOptions } from "./options.ts"

/** What of a run's permissions is kept with it: whoever goes on with it may be stricter, and not looser. */
export function permissionsToKeep({
  permissions,
  approvals,
}: Pick<ExecutorOptions, "permissions" | "approvals">): KeptPermissions | undefined {
  const deny = (permissions?.rules ?? [])
    .filter(({ permission, when }) => permission === "deny" && when === undefined)
    .map(({ tool }) => tool)
  const kept: KeptPermissions = {
    ...(permissions?.careful === true ? { careful: true } : {}),
    ...(deny.length === 0 ? {} : { deny }),
    ...(approvals === "wait" ? { waits: true } : {}),
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

/**
 * Holds whoever goes on with a run to what it was begun with. Otherwise a call that a person was asked about, and refused,
 * would be made by a process that was started without the same flags.
 */
export function heldTo(options: ExecutorOptions, kept: KeptPermissions | undefined): ExecutorOptions {
  if (kept === undefined) return options
  const { permissions = {} } = options
  const { careful, deny = [], waits } = kept
  const { rules = [] } = permissions
  // Only what is missing: an answer counts for the rules that it was given under, in their order.
  const missing = deny.filter((name) => !rules.some(({ tool, permission }) => permission === "deny" && tool === name))
  const policy: PermissionPolicy = {
    ...permissions,
    rules: [...rules, ...missing.map((tool) => ({ tool, permission: "deny" as const }))],
    ...(careful === true ? { careful } : {}),
  }
  return { ...options, permissions: policy, ...(waits === true ? { approvals: "wait" } : {}) }
}
