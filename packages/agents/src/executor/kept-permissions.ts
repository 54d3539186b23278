import type { PermissionPolicy, PermissionRule } from "@toolwright/toolbox"
import type { KeptPermissions } from "../record/encode.ts"
import type { ExecutorOptions } from "./options.ts"

/** What of a run's permissions is kept with it: whoever goes on with it may be stricter, and not looser. */
export function permissionsToKeep({
  permissions,
  approvals,
}: Pick<ExecutorOptions, "permissions" | "approvals">): KeptPermissions | undefined {
  if (permissions === undefined && approvals !== "wait") return undefined
  const { rules = [], careful, otherwise, denyPaths = [] } = permissions ?? {}
  return {
    ...(permissions === undefined ? {} : { rules: rules.filter(isPlain).map(named) }),
    ...(careful === true ? { careful } : {}),
    ...(otherwise === undefined ? {} : { otherwise }),
    ...(denyPaths.length === 0 ? {} : { denyPaths }),
    ...(approvals === "wait" ? { waits: true } : {}),
  }
}

/**
 * Holds whoever goes on with a run to what it was begun with. Otherwise a call that a person was asked about, and
 * refused, would be made by a process that was started without the same flags; and one that was allowed would be asked
 * about again.
 */
export function heldTo(options: ExecutorOptions, kept: KeptPermissions | undefined): ExecutorOptions {
  if (kept === undefined) return options
  const { permissions = {} } = options
  const { careful, waits, denyPaths = [], otherwise } = kept
  const policy: PermissionPolicy = {
    ...permissions,
    ...rulesHeld(permissions.rules ?? [], kept),
    denyPaths: [...new Set([...denyPaths, ...(permissions.denyPaths ?? [])])],
    ...(careful === true ? { careful } : {}),
    ...(otherwise === undefined ? {} : { otherwise }),
  }
  return { ...options, permissions: policy, ...(waits === true ? { approvals: "wait" } : {}) }
}

/** An answer counts for the rules that it was given under, in their order: only what is new stands beside them. */
function rulesHeld(
  now: readonly PermissionRule[],
  { rules, deny = [] }: KeptPermissions,
): Pick<PermissionPolicy, "rules" | "narrowedBy"> {
  const isAmong = (list: readonly PermissionRule[], { tool, permission }: PermissionRule): boolean =>
    list.some((rule) => isPlain(rule) && rule.tool === tool && rule.permission === permission)
  if (rules === undefined) {
    const missing = deny.map((tool) => ({ tool, permission: "deny" as const })).filter((rule) => !isAmong(now, rule))
    return { rules: [...now, ...missing] }
  }
  const stricter = now.filter((rule) => isPlain(rule) && rule.permission !== "allow" && !isAmong(rules, rule))
  // Rules that look at the arguments are no part of a log; they stand first, as where they were begun with.
  return {
    rules: [...now.filter((rule) => !isPlain(rule)), ...rules],
    ...(stricter.length === 0 ? {} : { narrowedBy: stricter }),
  }
}

const isPlain = ({ when }: PermissionRule): boolean => when === undefined
const named = ({ tool, permission }: PermissionRule) => ({ tool, permission })
