import { existsSync } from "node:fs"
import { join } from "node:path"
import type { PocketCall } from "./call.ts"
import { APPENDING_TOOL, PLACING_TOOL, SEARCH_TOOL } from "./tools.ts"

/** What a request comes to by its shape alone. */
export interface PlainReading {
  readonly call: PocketCall
  /** What is to be written stands in quotes, so that no word of the request can be meant otherwise. */
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
  return search(text, isThere) ?? insertion(text, isThere) ?? addition(text, isThere)
}

type IsThere = (path: string | undefined) => path is string

const SEARCH =
  /^(?:find|look for|search for) (?:the |all |every )?(["'`]?)([^\s"'`]+)\1 in (?:the |this )?(?!the )(\.|[\w-][\w./-]*?)\/?(?: folder| directory)?[.!?]?$/i
/** Words for the folder in which everything is. */
const HERE = /^(?:here|folder|directory)$/i

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
const ADDITION = new RegExp(`^(?:add|append) ${CONTENT} to (?:the (?:end|bottom) of )?${FILE}`, "i")

function insertion(text: string, isThere: IsThere): PlainReading | undefined {
  const { where = "", line = "", path, ...said } = INSERTION.exec(text)?.groups ?? {}
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

function contentOf({ double, single, back, bare }: Readonly<Record<string, string | undefined>>): string | undefined {
  return double ?? single ?? back ?? bare
}
