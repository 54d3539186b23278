import {
  actionOf,
  argumentPaths,
  canonicalJson,
  effectsOf,
  roleOf,
  type JsonObject,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/** A failed call that nothing after it has put right, as a person is told of it. */
export interface OpenFailure {
  name: string
  code: string
  message: string
}

/** Failures of calls that never ran. */
export const REFUSED: ReadonlySet<string> = new Set([
  "INVALID_ARGUMENTS",
  "UNKNOWN_TOOL",
  "TOOL_WITHDRAWN",
  "PERMISSION_DENIED",
  "NOT_OWNED",
  "READ_ONLY_AGENT",
  "COMMIT_REFUSED",
  "COMMIT_UNDONE",
  "ARGUMENTS_NOT_KEPT",
  "HAND_OVER_REFUSED",
])

/** Failures of validation that say nothing about the work: what they mean for a run is the gate's to say. */
export const NOTHING_TO_CHECK: ReadonlySet<string> = new Set(["NO_TESTS", "NOTHING_CHECKED", "CANCELLED"])

/** Nobody was asked, since that would have been too deep: nothing was begun, and the model does that part itself. */
const NOBODY_ASKED = "NESTING_DEPTH_EXCEEDED"

/** Whether a check made only some of its checks, as its result says. */
export function isPart(result: ToolResult): boolean {
  return (result.data as { complete?: unknown } | null | undefined)?.complete === false
}

/** What a call was about, so that a later one can be told to be about the same. */
interface Aim {
  tool: string
  kind: "looks" | "files" | "programs" | "role" | "nothing of ours" | "other" | "unknown"
  about: readonly string[]
  args: JsonObject
  /** Texts among the arguments, by which a call of a tool that is not there is told again. */
  values: ReadonlySet<string>
}

interface Open {
  readonly failure: OpenFailure
  readonly aim: Aim
  readonly round: number
  /** It was an agent's: it is asked again in other words. */
  readonly byAgent: boolean
  /** The agent came to nothing by what it did or did not do. */
  readonly undone: boolean
  /** Arguments that were wrong by their form, which the call put right gives in another. */
  readonly malformed: ReadonlySet<string>
}

/** How a run ends that was told to do something, and did not. */
const UNDONE: ReadonlySet<unknown> = new Set(["completed-with-failures", "nothing-done", "no-tool-use", "stuck"])

/**
 * The failed calls of a run that were not put right. A failure is put right by a later success that is about the same:
 * the same files, whichever tool writes them; the same program; the same role (a later commit, a later check); else the
 * same tool and action with the same arguments, since nobody knows which of them say what the call is about. An agent
 * is asked again in other words; where it failed it takes a success that changed something, and the files that it was
 * asked about, for its word that all is done by now is no change. A call of a tool that is not there is put right by
 * another that changes something, of the same file where it named one. A look that failed is put right by whatever was
 * found out instead, in a later round: what was asked beside it was no answer to its failure.
 */
export class OpenFailures {
  #open: readonly Open[] = []
  #corrected = 0
  #round = 0

  /** The calls that follow are of another reply. */
  beginRound(): void {
    this.#round++
  }

  get list(): readonly OpenFailure[] {
    return this.#open.map(({ failure }) => failure)
  }

  /** How many were put right. */
  get corrected(): number {
    return this.#corrected
  }

  record(name: string, args: JsonObject, result: ToolResult, tool: ToolDefinition | undefined): void {
    const aim = aimOf(name, args, tool)
    if (result.success) {
      if (isPart(result)) return
      const files = [...aim.about, ...namedAnew(aim, result.modifiedFiles.map(normal))]
      const isRight = (open: Open): boolean => {
        if (open.aim.kind === "looks") return open.round < this.#round
        return !(open.undone && result.modifiedFiles.length === 0) && putsRight(open, aim, files)
      }
      this.#settle(isRight)
      return
    }
    const { code, message } = result.error
    if (NOTHING_TO_CHECK.has(code) || code === NOBODY_ASKED) return
    const asked = result.metadata.asked as { outcome?: unknown } | undefined
    const open = {
      failure: { name, code, message },
      aim,
      round: this.#round,
      byAgent: asked !== undefined,
      undone: UNDONE.has(asked?.outcome),
      malformed: malformedIn(result),
    }
    this.#open = [...this.#open, open]
  }

  /** The work was checked and passes: what programs and checks complained of before counts as put right. */
  settleChecked(): void {
    this.#settle(({ aim }) => aim.kind === "programs" || aim.about[0] === "validates")
  }

  #settle(isRight: (open: Open) => boolean): void {
    const left = this.#open.filter((open) => !isRight(open))
    this.#corrected += this.#open.length - left.length
    this.#open = left
  }
}

function aimOf(name: string, args: JsonObject, tool: ToolDefinition | undefined): Aim {
  const values = new Set(
    Object.values(args).filter((value) => typeof value === "string" && value.length > 1) as string[],
  )
  if (tool === undefined) return { tool: name, kind: "unknown", about: [], args, values }
  const effects = effectsOf(tool, args)
  const role = roleOf(tool, args)?.role
  const of = (kind: Aim["kind"], about: readonly string[] = []): Aim => ({
    tool: ownName(tool, args),
    kind,
    about,
    args,
    values,
  })
  if (role !== undefined) return of("role", [role])
  if (effects?.readOnly === true) return of("looks")
  const files = argumentPaths(effects?.writes, args).map(normal)
  if (files.length > 0) return of("files", files)
  const programs = tool.subjects?.(args)
  if (programs !== undefined) return programs.length === 0 ? of("looks") : of("programs", programs)
  return of(effects?.writes?.length === 0 ? "nothing of ours" : "other")
}

/**
 * What was changed beside what the arguments name, which tools tell by its path on the machine: the end of that path is
 * a file's of another folder too (`/top/lib/src/add.js` ends as `src/add.js` does).
 */
function namedAnew({ kind, about }: Aim, changed: readonly string[]): string[] {
  const named = kind === "files" ? about : []
  return changed.filter((file) => !named.some((one) => isSame(one, file)))
}

/** A tool presented by its actions, or called with one, is the same. */
function ownName(tool: ToolDefinition, args: JsonObject): string {
  const action = actionOf(tool, args)
  return action === undefined ? tool.name : (action.name ?? `${tool.name}_${action.action}`.replaceAll("-", "_"))
}

function putsRight(open: Open, later: Aim, files: readonly string[]): boolean {
  const { aim: failed } = open
  const covers = (done: readonly string[]): boolean =>
    failed.about.every((one) => done.some((file) => isSame(one, file)))
  switch (failed.kind) {
    case "unknown":
      return unknownDone(failed, later, files)
    case "files":
      return later.kind !== "looks" && covers(files)
    case "programs":
      return later.tool === failed.tool && covers(later.about)
    case "role":
      return later.kind === "role" && covers(later.about)
    case "looks":
    case "nothing of ours":
      return later.tool === failed.tool
    case "other":
      return later.tool === failed.tool && (open.byAgent ? namedIn(failed, files) : asksTheSame(open, later.args))
  }
}

/** Whether what a failed call said is said again: arguments may be added, and those put right that had a wrong form. */
function asksTheSame({ aim, malformed }: Open, later: JsonObject): boolean {
  return Object.entries(aim.args).every(
    ([name, value]) => malformed.has(name) || (name in later && canonicalJson(value) === canonicalJson(later[name])),
  )
}

/** The arguments that a call's refusal complains of. */
function malformedIn(result: ToolResult): ReadonlySet<string> {
  const { code, details } = result.error ?? {}
  const issues = code === "INVALID_ARGUMENTS" ? (details as { issues?: unknown } | undefined)?.issues : undefined
  const paths = (Array.isArray(issues) ? issues : []).map((issue: { path?: unknown } | null) => issue?.path)
  return new Set(paths.map((path) => /^[^.[]*/.exec(String(path))?.[0] ?? ""))
}

/** Whether the files that an agent was asked about, if any were named, are among those that were changed. */
function namedIn({ values }: Aim, files: readonly string[]): boolean {
  const words = [...values].flatMap((text) => text.split(/[\s"'`,;()]+/).map((word) => word.replace(/[.:!?]+$/, "")))
  const named = words.filter((word) => LIKE_A_FILE.test(word)).map(normal)
  return named.every((path) => files.some((file) => isSame(path, file)))
}

function unknownDone({ values }: Aim, later: Aim, files: readonly string[]): boolean {
  if (later.kind === "looks") return [...values].some((value) => later.values.has(value))
  const named = [...values].filter((value) => LIKE_A_FILE.test(value)).map(normal)
  const told = [...later.values]
  return named.every((path) => files.some((file) => isSame(path, file)) || told.some((text) => text.includes(path)))
}

/** One word with a slash or an ending, and no address. */
const LIKE_A_FILE = /^(?!\w+:\/\/)(?:\S*\/\S*|\S+\.[A-Za-z]\w{0,7})$/

const normal = (path: string): string =>
  path
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/+$/, "")

/** One path, whether it is told from the workspace's top or from the machine's. */
const isSame = (one: string, other: string): boolean =>
  one === other ||
  (one.startsWith("/") && one.endsWith(`/${other}`)) ||
  (other.startsWith("/") && other.endsWith(`/${one}`))
