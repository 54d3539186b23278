import {
  argumentPaths,
  effectsOf,
  failure,
  roleOf,
  type JsonObject,
  type Middleware,
  type ToolDefinition,
  type ToolResult,
  type WorkWatch,
} from "@toolwright/toolbox"

/**
 * What an agent may change, held where its calls are carried out: `all`; `nothing`, for agents that only read; or the
 * files that it owns, relative to the workspace.
 */
export type Access = "all" | "nothing" | { readonly owns: readonly string[] }

/** Refuses calls that change what the agent may not change, whatever its prompt says and whichever tools it has. */
export function accessGuard(access: Access, watches: () => readonly WorkWatch[]): Middleware {
  // What a tool keeps beside an owned file (the state of a generated one) is the owner's too.
  const beside = new Set<string>()
  return async (call, next) => {
    const refused = await refusalOf(access, beside, call.tool, call.arguments, watches())
    if (refused !== undefined) return refused
    const result = await next()
    if (access !== "all" && roleOf(call.tool, call.arguments) === undefined)
      for (const file of result.modifiedFiles) beside.add(normal(file))
    return result
  }
}

async function refusalOf(
  access: Access,
  beside: ReadonlySet<string>,
  tool: ToolDefinition,
  args: JsonObject,
  watches: readonly WorkWatch[],
): Promise<ToolResult | undefined> {
  if (access === "all") return undefined
  const effects = effectsOf(tool, args)
  if (effects?.readOnly === true) return undefined
  if (access === "nothing") {
    return failure({
      code: "READ_ONLY_AGENT",
      message: `'${tool.name}' was not run: this agent only reads, and the call may change something.`,
      hint: "Say in your answer what should be changed.",
    })
  }
  const role = roleOf(tool, args)?.role
  if (role === "validates") return undefined
  const owned = new Set(access.owns.map(normal))
  if (role !== undefined) return commitRefusal(owned, beside, args, watches)
  const paths = argumentPaths(effects?.writes, args)
  const foreign = paths.filter((path) => !isOwned(owned, path))
  if (paths.length > 0 && foreign.length === 0) return undefined
  return failure({
    code: "NOT_OWNED",
    message:
      paths.length === 0
        ? `'${tool.name}' was not run: it does not say which files it changes, and this agent may change only ${listed(owned)}.`
        : `Nothing was changed: ${foreign.join(", ")} is not owned by this agent, which may change only ${listed(owned)}.`,
    hint: "Work on the files that you own; say in your answer what others would need.",
  })
}

/** An owner hands in its own files; what else lies changed in the workspace is somebody else's. */
async function commitRefusal(
  owned: ReadonlySet<string>,
  beside: ReadonlySet<string>,
  args: JsonObject,
  watches: readonly WorkWatch[],
): Promise<ToolResult | undefined> {
  const named = Array.isArray(args.files) ? args.files.map(String) : []
  const all = named.length > 0 ? named : (await Promise.all(watches.map(({ history }) => history.unrecorded()))).flat()
  const foreign = all.filter((file) => !isOwned(owned, file) && !beside.has(normal(file)))
  if (foreign.length === 0) return undefined
  return failure({
    code: "NOT_OWNED",
    message: `Nothing was committed: ${foreign.slice(0, 5).join(", ")} would be committed too, and this agent owns only ${listed(owned)}.`,
    hint: `Name the files: {"files": ${JSON.stringify([...owned, ...beside].filter((file, index, list) => list.indexOf(file) === index))}}.`,
  })
}

/** Whether an agent owns one of some files; one that may change everything owns them all. */
export function ownsAny(access: Access, files: readonly string[]): boolean {
  if (typeof access === "string") return access === "all" && files.length > 0
  const owned = new Set(access.owns.map(normal))
  return files.some((file) => isOwned(owned, file))
}

function isOwned(owned: ReadonlySet<string>, path: string): boolean {
  const file = normal(path)
  return owned.has(file) || [...owned].some((own) => file.startsWith("/") && file.endsWith(`/${own}`))
}

const listed = (owned: ReadonlySet<string>): string => [...owned].join(", ")
const normal = (path: string): string => path.replaceAll("\\", "/").replace(/^(?:\.\/)+/, "")
