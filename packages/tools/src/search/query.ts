import type { JsonSchema } from "@toolwright/toolbox"

/** What to look for in files, whichever engine does it. */
export interface ContentQuery {
  pattern: string
  /** Take the pattern as text, not as a regular expression. */
  fixed: boolean
  ignoreCase: boolean
  /** Only whole words. */
  word: boolean
  /** Globs that file paths must match, or must not when they begin with `!`. */
  include: readonly string[]
  /** Search also what `.gitignore` and `.ignore` files leave out. */
  includeIgnored: boolean
}

/** A line that matches; the text is read later, through the workspace. */
export interface Hit {
  /** Below the start, with `/`. */
  path: string
  /** From 1. */
  line: number
}

export interface HitList {
  hits: Hit[]
  /** Whether the engine stopped at its own limit. */
  incomplete: boolean
  /** Files that were not looked into since they are too large, below the start. */
  leftOut?: readonly string[]
  /** Whether the time of a search was over before all was looked at. */
  late?: boolean
}

/** How much a search looks at. */
export interface SearchBounds {
  /** Of files that are larger, in bytes, nothing is looked at where they take up the search. */
  readonly fileBytes: number
  /** Of all files together, where they are searched in this process. */
  readonly bytes: number
  /** After so many milliseconds what was found is the answer. */
  readonly ms: number
}

export const SEARCH_BOUNDS: SearchBounds = {
  fileBytes: 64 * 1024 * 1024,
  bytes: 1024 * 1024 * 1024,
  ms: 30_000,
}

/** More hits than these are not collected: nobody reads them, and a count of them says enough. */
export const MOST_HITS = 50_000
/** Longest answer of a search, in characters. */
export const MOST_CHARS = 20_000

export const PATTERN: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 10_000,
  description: "Regular expression (RE2) for a line; what is none is looked for as plain text",
}

export const QUERY_PROPERTIES: Record<string, JsonSchema> = {
  fixed: { type: "boolean", description: "Take pattern as plain text; false unless given" },
  ignore_case: { type: "boolean", description: "Upper and lower case are the same; false unless given" },
  word: { type: "boolean", description: "Only whole words; false unless given" },
}
