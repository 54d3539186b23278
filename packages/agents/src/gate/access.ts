import { lstatSync, realpathSync } from "node:fs"
import { isAbsolute, join, relative, sep } from "node:path"
import { realPlace } from "@toolwright/host/paths"
import {
  argumentPaths,
  effectsOf,
  failure,
  roleOf,
  type CheckedCall,
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

/** What a guard works with. */
interface Guarded {
  /** As it is now: a part of the work may have less of it. */
  access: () => Access
  /** The top of the workspace; without it no path that is given whole is known to be an owned one. */
  root?: string | undefined
  watches: () => readonly WorkWatch[]
}

/** Refuses calls that change what the agent may not change, whatever its prompt says and whichever tools it has. */
export function accessGuard({ access, root, watches }: Guarded): Middleware {
  // What a tool keeps beside an owned file (the state of a generated one) is the owner's too.
  const beside = new Set<string>()
  const guarded = async (call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> => {
    const allowed = access()
    const refused = await refusalOf({ access: allowed, root, watches }, beside, call.tool, call.arguments)
    if (refused !== undefined) return refused
    const result = await next()
    if (roleOf(call.tool, call.arguments) === undefined)
      for (const file of result.modifiedFiles) beside.add(normal(file))
    return result
  }
  return (call, next) => (access() === "all" ? next() : guarded(call, next))
}

async function refusalOf(
  { access, root, watches }: Omit<Guarded, "access"> & { access: Access },
  beside: ReadonlySet<string>,
  tool: ToolDefinition,
  args: JsonObject,
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
  const owned = new Owned(access.owns, root)
  if (role !== undefined) return commitRefusal(owned, beside, args, watches())
  const paths = argumentPaths(effects?.writes, args)
  const foreign = paths.filter((path) => !owned.has(path))
  if (paths.length > 0 && foreign.length === 0) return elsewhereRefusal(paths, root)
  return failure({
    code: "NOT_OWNED",
    message:
      paths.length === 0
        ? `'${tool.name}' was not run: it does not say which files it changes, and this agent may change only ` +
          `${owned.listed}.`
        : `Nothing was changed: ${foreign.join(", ")} is not owned by this agent, which may change only ` +
          `${owned.listed}.`,
    hint: "Work on the files that you own; say in your answer what others would need.",
  })
}

/**
 * An owned name that has come to lead to another file, by a link in its way, or that is one of two names of a file:
 * what is written there would be somebody else's.
 */
function elsewhereRefusal(paths: readonly string[], root: string | undefined): ToolResult | undefined {
  if (root === undefined) return undefined
  const top = realPlace(root)
  for (const path of paths) {
    const below = isAbsolute(path) ? relative(path.startsWith(`${top}/`) ? top : root, path) : normal(path)
    const place = join(top, below)
    const isLink = realPlace(place) !== place
    if (!isLink && !hasMoreNames(place)) continue
    const why = isLink ? "leads to another file by a link" : "has a second name (a hard link)"
    return failure({
      code: "NOT_OWNED",
      message: `Nothing was changed: ${path} ${why}, and only a file with one name is owned by one agent.`,
      hint: "Say in your answer that the link is in the way.",
    })
  }
  return undefined
}

function hasMoreNames(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.nlink > 1
}

/** An owner hands in its own files; what else lies changed in the workspace is somebody else's. */
async function commitRefusal(
  owned: Owned,
  beside: ReadonlySet<string>,
  args: JsonObject,
  watches: readonly WorkWatch[],
): Promise<ToolResult | undefined> {
  const named = Array.isArray(args.files) ? args.files.map(String) : []
  const all = named.length > 0 ? named : (await Promise.all(watches.map(({ history }) => history.unrecorded()))).flat()
  const foreign = all.filter((file) => !owned.has(file) && !beside.has(normal(file)))
  if (foreign.length === 0) return undefined
  return failure({
    code: "NOT_OWNED",
    message:
      `Nothing was committed: ${foreign.slice(0, 5).join(", ")} would be committed too, and this agent owns only ` +
      `${owned.listed}.`,
    hint: `Name the files: {"files": ${JSON.stringify([...new Set([...owned.files, ...beside])])}}.`,
  })
}

/** Whether an agent owns one of some files; one that may change everything owns them all. */
export function ownsAny(access: Access, files: readonly string[], root?: string): boolean {
  if (typeof access === "string") return access === "all" && files.length > 0
  const owned = new Owned(access.owns, root)
  return files.some((file) => owned.has(file))
}

/** The files of an owner, which may be named from the top of the workspace or whole. */
class Owned {
  readonly files: ReadonlySet<string>
  readonly #roots: readonly string[]

  constructor(files: readonly string[], root: string | undefined) {
    this.files = new Set(files.map(normal))
    this.#roots = root === undefined ? [] : [...new Set([root, realOf(root)])]
  }

  get listed(): string {
    return [...this.files].join(", ")
  }

  /** A file of the same name in another folder is another file; where a way leads up again is for nobody to guess. */
  has(path: string): boolean {
    const file = normal(path)
    if (this.files.has(file)) return true
    if (!isAbsolute(path) || file.split("/").includes("..")) return false
    return this.#roots.some((root) => this.files.has(normal(relative(root, path))))
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

// Where `\` parts no folders it is a letter, and the name that of another file.
const normal = (path: string): string => path.replaceAll(sep, "/").replace(/^(?:\.\/)+/, "")
