import { existsSync, statSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import type { PocketCall } from "./call.ts"
import { plainChange } from "./plain-change.ts"
import { APPENDING_TOOL, DELETING_TOOL, LISTING_TOOL, MOVING_TOOL, PLACING_TOOL, SEARCH_TOOL } from "./tools.ts"

/** What a request comes to by its shape alone. */
export interface PlainReading {
  readonly call: PocketCall
  /** No word of the request can be meant otherwise: what is to be written stands in quotes, or nothing is written. */
  readonly literal: boolean
}

/**
 * What a request comes to that has one of a few plain shapes which the model declines or misreads. Only what is there
 * is taken for a place; and only what is literal is done where nobody was asked.
 */
export function plainReading(request: string, root: string | undefined): PlainReading | undefined {
  if (root === undefined) return undefined
  const text = request.trim().replace(/^please /i, "")
  const isThere = (path: string | undefined): path is string =>
    path !== undefined && !path.startsWith("/") && !path.split("/").includes("..") && existsSync(join(root, path))
  const isFile = (path: string | undefined): path is string => isThere(path) && !isFolder(join(root, path))
  const found = plainChange(text, root)
  if (found !== undefined && isFile(found.call.arguments["path"] as string)) return found
  return (
    search(text, isThere) ??
    use(text) ??
    inside(text, root, isThere) ??
    relocation(text, root, isThere) ??
    insertion(text, isThere) ??
    addition(text, isThere) ??
    putting(text, isFile)
  )
}

/**
 * Whether a reading takes away or moves what is not there, or takes a folder for a file that is to go, so that nobody
 * can have meant it.
 */
export function isOfNothing({ name, arguments: args }: PocketCall, root: string | undefined): boolean {
  const path = name === DELETING_TOOL ? args["path"] : name === MOVING_TOOL ? args["source"] : undefined
  if (root === undefined || typeof path !== "string") return false
  const at = resolve(root, path)
  return !existsSync(at) || (name === DELETING_TOOL && isFolder(at))
}

type IsThere = (path: string | undefined) => path is string

const SEARCH =
  /^(?:find|look for|search for) (?:the |all |every )?(["'`]?)([^\s"'`]+)\1 in (?:the |this )?(?!the )(\.|[\w-][\w./-]*?)\/?(?: folder| directory)?[.!?]?$/i
/** Words for the folder in which everything is. */
const HERE = /^(?:here|folder|directory)$/i

const KIND = "(?:function|class|constant|variable|method|type)"
const WORD = "[\"'`]?(?<name>[A-Za-z_$][\\w$]*)[\"'`]?(?:\\(\\))?"
const NAME = `(?:the )?(?:${KIND} )?${WORD}`
const USES = [
  `^where is ${NAME} (?:defined|declared|used|called|implemented|imported|set)\\??$`,
  `^where is the ${KIND} ${WORD}\\??$`,
  `^(?:who|what) (?:calls|uses|imports) ${NAME}\\??$`,
  `^which files? (?:calls?|uses?|imports?|mentions?) ${NAME}\\??$`,
  "^(?:find|show me|list)(?: me)?(?: all)?(?: of)?(?: the)? (?<name>TODO|FIXME)(?:s|'s)?[.!?]?$",
].map((pattern) => new RegExp(pattern, "i"))

/** A question for a name in the code: its lines answer it, and to look does no harm. */
function use(text: string): PlainReading | undefined {
  for (const pattern of USES) {
    const name = pattern.exec(text)?.groups?.["name"]
    if (name === undefined || NO_NAMES.test(name)) continue
    return { call: { name: SEARCH_TOOL, arguments: { pattern: name } }, literal: true }
  }
  return undefined
}

/** Words that stand for what was said before, or for a thing of everyday speech. */
const NO_NAMES = /^(?:it|this|that|they|them|these|those|he|she|everything|anything|something|all|me|us)$/i
const INSIDE =
  /^(?:what(?:'s| is| are)(?: there)?|show(?: me)? (?:everything|all|all files|what is)) in (?:the )?(?:folder )?([\w.-][\w./-]*?)\/?(?: folder)?\??$/i

/** A question for what is in a folder that is there. */
function inside(text: string, root: string, isThere: IsThere): PlainReading | undefined {
  const path = INSIDE.exec(text)?.[1]
  if (!isThere(path) || !isFolder(join(root, path))) return undefined
  return { call: { name: LISTING_TOOL, arguments: { path } }, literal: true }
}

const MOVE =
  /^move (?:the )?(?:file )?([\w.-][\w./-]*) (?:in)?to (?:the )?(?:folder )?([\w.-][\w./-]*?)\/?(?: folder)?[.!]?$/i

/** A file that is to go into a folder, which has its name there. Moving is asked about in any case. */
function relocation(text: string, root: string, isThere: IsThere): PlainReading | undefined {
  const [, source, folder] = MOVE.exec(text) ?? []
  if (!isThere(source) || !isThere(folder) || source === folder || !isFolder(join(root, folder))) return undefined
  return {
    call: { name: MOVING_TOOL, arguments: { source, destination: `${folder}/${basename(source)}` } },
    literal: true,
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function search(text: string, isThere: IsThere): PlainReading | undefined {
  const [, , pattern, named = ""] = SEARCH.exec(text) ?? []
  const path = HERE.test(named) ? "." : named
  if (pattern === undefined || !isThere(path)) return undefined
  return { call: { name: SEARCH_TOOL, arguments: { pattern, path } }, literal: false }
}

/** What is to be written: in quotes, or a few words that say nothing of what they are. */
const CONTENT =
  "(?:\"(?<double>[^\"]+)\"|'(?<single>[^']+)'|`(?<back>[^`]+)`|(?!(?:a|an|the|some|another|more|this|that|it|lines?|text|file|and)\\b)(?<bare>[\\w-]+(?: (?!(?:and|then|to|in|of)\\b)[\\w-]+){0,3}))"
const FILE = "(?:the )?(?:file )?(?<path>[\\w.-][\\w./-]*\\w)[.!]?$"
const INSERTION = new RegExp(
  `^(?:insert|add|put) ${CONTENT} (?<where>before|after) line (?<line>[1-9]\\d{0,5}) (?:of|in|into|to) ${FILE}`,
  "i",
)
const TOP = new RegExp(`^(?:insert|add|put) ${CONTENT} (?:at|to) the (?:top|beginning|start) of ${FILE}`, "i")
/** Words before what stands in quotes that say what it is. */
const WORDED = "(?:(?:a|the|this) (?:new )?line (?:saying |that says |reading |with )?(?=[\"'`]))?"
const ADDITION = new RegExp(`^(?:add|append) ${WORDED}${CONTENT} to (?:the (?:end|bottom) of )?${FILE}`, "i")
/** What is put into a file that is there joins what it holds, unless somebody says otherwise. */
const PUTTING = new RegExp(`^(?:put|note|jot) (?:down )?${WORDED}${CONTENT} (?:in|into|on|to) ${FILE}`, "i")

function insertion(text: string, isThere: IsThere): PlainReading | undefined {
  const top = TOP.exec(text)?.groups
  const {
    where = "",
    line = "",
    path,
    ...said
  } = top === undefined ? (INSERTION.exec(text)?.groups ?? {}) : { ...top, where: "before", line: "1" }
  const content = contentOf(said)
  if (content === undefined || !isThere(path)) return undefined
  const place = { path, [`${where.toLowerCase()}_line`]: Number(line) }
  return { call: { name: PLACING_TOOL, arguments: { ...place, content } }, literal: said.bare === undefined }
}

function addition(text: string, isThere: IsThere): PlainReading | undefined {
  const { path, ...said } = ADDITION.exec(text)?.groups ?? {}
  const content = contentOf(said)
  if (content === undefined || !isThere(path)) return undefined
  return { call: { name: APPENDING_TOOL, arguments: { path, content } }, literal: said.bare === undefined }
}

function putting(text: string, isFile: IsThere): PlainReading | undefined {
  const { path, ...said } = PUTTING.exec(text)?.groups ?? {}
  const content = contentOf(said)
  if (content === undefined || !isFile(path)) return undefined
  return { call: { name: APPENDING_TOOL, arguments: { path, content } }, literal: false }
}

function contentOf({ double, single, back, bare }: Readonly<Record<string, string | undefined>>): string | undefined {
  return double ?? single ?? back ?? bare
}
