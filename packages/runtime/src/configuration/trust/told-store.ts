import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { createRedactor } from "@toolwright/host/text"
import {
  differingParts,
  messageOf,
  MOST_TOLD,
  TOLD_PARTS,
  type Telling,
  type ToldBefore,
  type ToldPart,
} from "@toolwright/toolbox"
import { removeTrustFile, readTrustFile, trustFolder, writeTrustFile } from "./own-file.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** A source of tools as its own settings name it. */
export interface ToldSource {
  readonly kind: "mcp" | "rest"
  readonly name: string
  /** Where it answers, or what starts it: another one under the same name is another source. */
  readonly target: readonly string[]
}

/** Marks of the parts of a telling: they say whether it is the same, and not what it was. */
type Marks = Readonly<Record<ToldPart, string>>

interface KeptTool {
  /** As it was let in. */
  letIn: Marks
  /** As it was last told, where that is something else; with its description, for a person who decides. */
  now?: { marks: Marks; description: string }
}

interface Kept {
  version: 1
  kind: ToldSource["kind"]
  name: string
  /** Its target for the eye, without secrets. */
  target: string
  /** ISO 8601. */
  at: string
  /** By name. Pairs, since any name may be a tool's, `__proto__` too. */
  tools: [string, KeptTool][]
}

/** What is kept about a source, for a person. */
export interface ToldSourceEntry extends Pick<Kept, "kind" | "name" | "target" | "at"> {
  readonly tools: number
  /** Tools that are not what they were when they were let in: what changed, and what they say now. */
  readonly changed: readonly { readonly tool: string; readonly what: string; readonly description: string }[]
}

/** Protected from tools as the file of trust itself is: see `DEFAULT_DENY_WRITE`. */
const PREFIX = "toolwright-trust.json.source-"
const LIMIT_BYTES = 16 * 1024 * 1024
/** Sources that are remembered; they come from the user's own settings. */
const MOST_SOURCES = 1000
const SHOWN_CHARS = 2000
/** Changed tools whose new description is kept: a server may change all of them, each day. */
const MOST_DESCRIBED = 100

/**
 * Remembers for this user, beyond this process, what a source told of its tools when they were let in. Where it cannot
 * be kept, that is said once, and nothing is taken back.
 */
export function toldStore(env: Environment, source: ToldSource, log: (line: string) => void): ToldBefore {
  const file = fileOf(source)
  let current: Kept | undefined
  let complained = false
  const write = (tools: ReadonlyMap<string, KeptTool>): void => {
    const { kind, name } = source
    current = { version: 1, kind, name, target: shownTarget(source), at: isoNow(), tools: [...tools] }
    try {
      if (read(env, file) === undefined && sourceFiles(env).length >= MOST_SOURCES)
        throw new Error(`${MOST_SOURCES} sources are remembered already`)
      writeTrustFile(env, file, current)
    } catch (thrown) {
      if (!complained) log(`What '${name}' tells of its tools is remembered for this time only: ${messageOf(thrown)}`)
      complained = true
    }
  }
  // Read each time: another process of the same user may have let a tool in.
  const kept = (): Map<string, KeptTool> => new Map((read(env, file) ?? current)?.tools)
  return {
    changes(tellings) {
      const tools = kept()
      const changed = new Map<string, readonly ToldPart[]>()
      let isNew = false
      for (const [tool, telling] of tellings) {
        const known = tools.get(tool)
        if (known === undefined && tools.size >= MOST_TOLD) {
          // What cannot be remembered could change unseen, so it counts as changed.
          changed.set(tool, ALL)
          continue
        }
        const marks = marksOf(telling)
        const parts = known === undefined ? [] : differingParts(known.letIn, marks)
        if (parts.length > 0) changed.set(tool, parts)
        const next = keptNow(known, { marks, telling, described: changed.size <= MOST_DESCRIBED })
        isNew ||= next !== known
        tools.set(tool, next)
      }
      if (isNew) write(tools)
      return changed
    },
    letIn: (tool, telling) => write(kept().set(tool, { letIn: marksOf(telling) })),
  }
}

const ALL = Object.keys(TOLD_PARTS) as ToldPart[]

/** A tool as it is to be kept; the same object where nothing is new. */
function keptNow(
  known: KeptTool | undefined,
  { marks, telling, described }: { marks: Marks; telling: Telling; described: boolean },
): KeptTool {
  if (known === undefined) return { letIn: marks }
  const { letIn, now } = known
  if (differingParts(letIn, marks).length === 0) return now === undefined ? known : { letIn }
  if (now !== undefined && differingParts(now.marks, marks).length === 0) return known
  const text = described && telling.description !== "" ? String(JSON.parse(telling.description)) : ""
  return { letIn, now: { marks, description: text.slice(0, SHOWN_CHARS) } }
}

/** The sources of this user whose tools are remembered, by name. */
export function toldSources(env: Environment): ToldSourceEntry[] {
  const entries = sourceFiles(env).flatMap((file) => {
    const kept = read(env, file)
    return kept === undefined ? [] : [entryOf(kept)]
  })
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Lets the changed tools of the sources of a name in as they were last told. @returns those sources, as they were */
export function letInSource(env: Environment, name: string): ToldSourceEntry[] {
  return sourceFiles(env).flatMap((file) => {
    const kept = read(env, file)
    if (kept?.name !== name) return []
    const tools = kept.tools.map(([tool, { letIn, now }]): [string, KeptTool] => [tool, { letIn: now?.marks ?? letIn }])
    writeTrustFile(env, file, { ...kept, at: isoNow(), tools })
    return [entryOf(kept)]
  })
}

/**
 * Forgets the sources of a name: what they tell next counts as told for the first time. @returns how many there were
 */
export function forgetSource(env: Environment, name: string): number {
  const files = sourceFiles(env).filter((file) => read(env, file)?.name === name)
  for (const file of files) removeTrustFile(env, file)
  return files.length
}

function entryOf({ kind, name, target, at, tools }: Kept): ToldSourceEntry {
  const changed = tools.flatMap(([tool, { letIn, now }]) =>
    now === undefined ? [] : [{ tool, what: inWords(letIn, now.marks), description: now.description }],
  )
  return { kind, name, target, at, tools: tools.length, changed }
}

/** The target for the eye: no password of an address, no query, no word that has the form of a secret. */
function shownTarget({ target }: ToldSource): string {
  const plain = target.map((word) => word.replace(/\/\/[^/@]*@/, "//••••@").replace(/^(https?:[^?]*)\?.*$/s, "$1?…"))
  return createRedactor()(plain.join(" ")).slice(0, SHOWN_CHARS)
}

function inWords(before: Marks, now: Marks): string {
  return differingParts(before, now)
    .map((part) => TOLD_PARTS[part])
    .join(", ")
}

function fileOf({ kind, name, target }: ToldSource): string {
  const mark = createHash("sha256")
    .update(JSON.stringify([kind, name, target]))
    .digest("hex")
  return `${PREFIX}${mark.slice(0, 32)}`
}

function marksOf(telling: Telling): Marks {
  const mark = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 24)
  return Object.fromEntries(Object.entries(telling).map(([part, text]) => [part, mark(text)])) as Record<
    ToldPart,
    string
  >
}

function read(env: Environment, file: string): Kept | undefined {
  const kept = readTrustFile(env, file, LIMIT_BYTES) as Partial<Kept> | undefined
  const isWhole = kept?.version === 1 && Array.isArray(kept.tools) && typeof kept.target === "string"
  return isWhole ? (kept as Kept) : undefined
}

function sourceFiles(env: Environment): string[] {
  try {
    return readdirSync(trustFolder(env)).filter(
      (file) => file.startsWith(PREFIX) && /^[\da-f]{32}$/.test(file.slice(PREFIX.length)),
    )
  } catch {
    return []
  }
}

function isoNow(): string {
  return new Date().toISOString()
}
