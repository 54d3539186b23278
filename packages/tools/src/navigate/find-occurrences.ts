import type { Workspace } from "@toolwright/host/paths"
import { decodeText } from "@toolwright/host/text"
import { grep } from "../search/grep.ts"
import { EXTENSIONS, grammarOf } from "./languages.ts"
import { occurrences, type Occurrence } from "./occurrences.ts"

/** An occurrence with the file and the text of its line. */
export interface FoundOccurrence extends Occurrence {
  path: string
  text: string
}

export interface FoundOccurrences {
  found: FoundOccurrence[]
  /** Whether files were left out: too many, or too large to parse. */
  incomplete: boolean
}

const MOST_FILES = 2000
const LARGEST_PARSED = 2 * 1024 * 1024
const MOST_LINES = 50_000

/**
 * Finds a name below a directory (or in one file), in every language that can be parsed. A text search chooses the
 * files, so that only those which hold the name are parsed.
 *
 * @param roles which occurrences are wanted; all unless given
 * @throws the errors of the workspace, and the signal's reason
 */
export async function findOccurrences(
  workspace: Workspace,
  path: string,
  name: string,
  options: { roles?: readonly Occurrence["role"][]; signal?: AbortSignal } = {},
): Promise<FoundOccurrences> {
  const { roles, signal } = options
  const query = {
    pattern: name,
    fixed: true,
    ignoreCase: false,
    word: /^\w+$/u.test(name),
    include: EXTENSIONS.map((extension) => `*.${extension}`),
    includeIgnored: false,
  }
  const { matches, incomplete } = await grep(workspace, path, query, { maxResults: MOST_LINES, context: 0, signal })
  const paths = [...new Set(matches.map((match) => match.path))]
  const result: FoundOccurrences = { found: [], incomplete: incomplete || paths.length > MOST_FILES }
  for (const file of paths.slice(0, MOST_FILES)) {
    signal?.throwIfAborted()
    const grammar = grammarOf(file)
    const content = grammar === undefined ? undefined : await workspace.read(file).catch(() => undefined)
    if (grammar === undefined || content === undefined) continue
    if (content.bytes.length > LARGEST_PARSED) {
      result.incomplete = true
      continue
    }
    const source = decodeText(content.bytes)?.text
    if (source === undefined) continue
    const lines = source.split("\n")
    for (const one of await occurrences(source, grammar, name)) {
      if (roles === undefined || roles.includes(one.role))
        result.found.push({ path: file, ...one, text: (lines[one.line - 1] ?? "").trim().slice(0, 300) })
    }
  }
  return result
}
