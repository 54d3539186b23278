import {
  executeCall,
  outlookOf,
  type JsonObject,
  type Permission,
  type PermissionPolicy,
  type Repair,
  type Toolset,
} from "@toolwright/toolbox"

/** What would become of a call. */
export interface CheckedArguments {
  valid: boolean
  error?: { code: string; message: string; hint?: string; problems: { path: string; message: string }[] }
  /** As the tool would get them, after what was put right. */
  arguments?: JsonObject
  repairs: Repair[]
  permission?: Permission
  /** Why it is so. */
  because?: string
}

/**
 * Resolves, repairs and validates a call, and looks up whether it may run; that it may not is no mistake of its
 * arguments. Nothing is run and nobody is asked.
 */
export async function checkCall(
  tools: Toolset,
  name: string,
  given: unknown,
  { permissions }: { permissions?: PermissionPolicy },
): Promise<CheckedArguments> {
  let started: { arguments: JsonObject; repairs: Repair[] } | undefined
  const result = await executeCall(
    tools,
    { name, arguments: given },
    {
      dryRun: true,
      onEvent(event) {
        if (event.type === "tool-start") started = event
      },
    },
  )
  const tool = tools.get(name)
  const { error } = result
  if (error === undefined || error.code === "PERMISSION_DENIED") {
    const args = started?.arguments ?? {}
    const { permission, because } = tool === undefined ? {} : await outlookOf(permissions, tool, args)
    return {
      valid: true,
      arguments: args,
      repairs: started?.repairs ?? [],
      ...(permission === undefined ? {} : { permission, because }),
    }
  }
  const { code, message, hint, details } = error
  const problems = (details as { issues?: { path: string; message: string }[] } | undefined)?.issues ?? []
  return {
    valid: false,
    error: { code, message, ...(hint === undefined ? {} : { hint }), problems },
    repairs: started?.repairs ?? [],
  }
}
