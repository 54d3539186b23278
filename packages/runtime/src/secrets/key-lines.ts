import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import { isInside } from "@toolwright/host/paths"
import { stateTextOf } from "@toolwright/host/state-files"
import { REDACTED } from "@toolwright/host/text"
import type { ToolResult } from "@toolwright/toolbox"

/** A line as those between a key's first and last; shorter ones are looked for only beside these. */
const LIKE_KEY = /(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{20,100}={0,2}(?![A-Za-z0-9+/=])/u
const SHORTEST_RUN = 20
/** By the code of a sign, whether it stands in such lines. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9+/]/.test(String.fromCharCode(code)) ? 1 : 0))
const KEY =
  /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:(?!-----)[\s\S]){0,40000})(?:-----END|-----BEGIN|$)/gu
const SHORTEST_LINE = 8
const LARGEST_BYTES = 1024 * 1024
const MOST_TEXT = 256 * 1024
const MOST_NAMES = 400
const MOST_FILES = 50
const DEEPEST = 20

/**
 * Takes out of a text the lines of private keys that stand in the files that a call and its result name. A key as a
 * whole is known by its first line; a part of one, as a search or a range of lines gives it, is known by its file
 * alone.
 *
 * @returns undefined where there is nothing of the kind
 */
export function keyLinesIn(
  roots: readonly string[],
  args: unknown,
  result: ToolResult,
): ((text: string) => string) | undefined {
  if (!mayHoldLine(result)) return undefined
  const text = `${result.output}\n${textOf(result.data)}`.slice(0, MOST_TEXT)
  if (!LIKE_KEY.test(text)) return undefined
  const lines = new Set<string>()
  let looked = 0
  for (const file of filesNamed(roots, `${textOf(args)}\n${text}`)) {
    if (++looked > MOST_FILES) break
    const content = stateTextOf(file, { limit: LARGEST_BYTES })
    for (const [, body] of content?.matchAll(KEY) ?? [])
      for (const line of body!.split(/[\s"',]+|\\[nr]/u)) if (line.length >= SHORTEST_LINE) lines.add(line)
  }
  if (lines.size === 0) return undefined
  const longestFirst = [...lines].sort((a, b) => b.length - a.length)
  return (said) => longestFirst.reduce((safe, line) => safe.replaceAll(line, REDACTED), said)
}

/** A quick look at every text of a result, before it is written out as one. What lies too deep is looked at then. */
function mayHoldLine({ output, data }: ToolResult): boolean {
  const look = (value: unknown, depth: number): boolean => {
    // Data often repeats the output.
    if (typeof value === "string") return value !== output && hasRun(value)
    if (typeof value !== "object" || value === null) return false
    if (depth > DEEPEST) return true
    if (Array.isArray(value)) return value.some((each) => look(each, depth + 1))
    return Object.keys(value).some((key) => hasRun(key) || look((value as Record<string, unknown>)[key], depth + 1))
  }
  return hasRun(output) || look(data, 0)
}

/** Whether a text holds what every such line begins with. One sign in twenty is looked at where there is nothing. */
function hasRun(text: string): boolean {
  for (let at = SHORTEST_RUN - 1; at < text.length; at += SHORTEST_RUN) {
    if (IN_RUN[text.charCodeAt(at)] !== 1) continue
    let from = at
    while (from > 0 && at - from < SHORTEST_RUN && IN_RUN[text.charCodeAt(from - 1)] === 1) from--
    let to = at
    while (to - from < SHORTEST_RUN && IN_RUN[text.charCodeAt(to)] === 1) to++
    if (to - from >= SHORTEST_RUN) return true
  }
  return false
}

function textOf(value: unknown): string {
  return value === undefined ? "" : (JSON.stringify(value) ?? "")
}

/** The files inside the roots that words of a text name, each once. */
function filesNamed(roots: readonly string[], text: string): Set<string> {
  const words = [...new Set(text.split(/[\s"'`,;:|<>()[\]{}=]+|\\[nrt"]/u))].filter((word) => word.length > 0)
  const real = roots.flatMap((root) => realOf(root) ?? [])
  // What a call names may be the folder that its results' names begin in.
  const bases = [...real]
  const files = new Set<string>()
  for (const word of words.filter((each) => each.length < 500 && !LIKE_KEY.test(each)).slice(0, MOST_NAMES)) {
    for (const base of bases.slice(0, 8)) {
      const path = realOf(resolve(base, word))
      if (path === undefined || !real.some((root) => isInside(root, path)) || real.includes(path)) continue
      files.add(path)
      if (bases.length < 8 && !bases.includes(path)) bases.push(path)
    }
  }
  return files
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
