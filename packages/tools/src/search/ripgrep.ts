import { spawn } from "node:child_process"
import { watchMemory } from "@toolwright/host/process"
import { ToolwrightError } from "@toolwright/toolbox"
import { MOST_HITS, type ContentQuery, type Hit, type HitList } from "./query.ts"

let binary: Promise<string | undefined> | undefined

/** Path of ripgrep's binary as its package brings it for this platform, or undefined. */
export function ripgrepPath(): Promise<string | undefined> {
  return (binary ??= import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  ))
}

export interface RipgrepTarget {
  /** Directory to start in: may be a path to a descriptor, which the child inherits until it has changed into it. */
  cwd: string
  /** What to search instead of the directory: a content, given on the standard input. */
  input?: Buffer
  /** Larger files are not looked at. */
  fileBytes?: number
  /** Called once when it takes more memory than a search should: for lines without an end it takes all of it. */
  onMemory?: () => void
  /** Where what is found is put, so that it is known also of a search that is broken off. */
  into?: Hit[]
}

/**
 * Lets ripgrep find the matching lines. It gets no configuration, no environment and no shell; what it prints is cut to
 * the line numbers, since the text of the lines is read through the workspace.
 *
 * @throws ToolwrightError `INVALID_PATTERN`; the signal's reason when aborted
 */
export async function runRipgrep(
  executable: string,
  query: ContentQuery,
  target: RipgrepTarget,
  signal: AbortSignal | undefined,
): Promise<HitList> {
  signal?.throwIfAborted()
  const child = spawn(executable, ripgrepArguments(query, target), {
    cwd: target.cwd,
    env: {},
    stdio: ["pipe", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal, killSignal: "SIGKILL" as const }),
  })
  // A child that has seen enough closes its input early.
  child.stdin.on("error", () => undefined)
  child.stdin.end(target.input)
  const found: HitList = { hits: target.into ?? [], incomplete: false }
  let rest = ""
  child.stdout.setEncoding("latin1")
  child.stdout.on("data", (chunk: string) => {
    rest = readRecords(rest + chunk, found.hits)
    if (found.hits.length < MOST_HITS) return
    found.incomplete = true
    child.kill("SIGKILL")
  })
  let complaint = ""
  child.stderr.setEncoding("utf8")
  child.stderr.on("data", (chunk: string) => {
    if (complaint.length < 4000) complaint += chunk
  })
  const unwatch = watched(child.pid, target.onMemory)
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (thrown) => reject(signal?.aborted ? (signal.reason as Error) : thrown))
    child.on("close", resolve)
  }).finally(unwatch)
  if (status === 2 && found.hits.length === 0 && /regex|glob/u.test(complaint))
    throw invalidPattern(query.pattern, complaint)
  return found
}

/** More memory than a search of lines takes. */
const MOST_MEMORY_MB = 1024

function watched(pid: number | undefined, onMemory: (() => void) | undefined): () => void {
  return pid === undefined || onMemory === undefined ? () => {} : watchMemory(pid, MOST_MEMORY_MB, onMemory)
}

function ripgrepArguments(query: ContentQuery, { input, fileBytes }: RipgrepTarget): string[] {
  return [
    "--no-config",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    "--line-number",
    "--max-columns=1",
    "--crlf",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--glob=!.git",
    ...(query.fixed ? ["--fixed-strings"] : []),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(query.word ? ["--word-regexp"] : []),
    ...(query.includeIgnored ? ["--no-ignore"] : []),
    ...(fileBytes === undefined ? [] : [`--max-filesize=${fileBytes}`]),
    ...nameFilter(query.include),
    "-e",
    query.pattern,
    "--",
    input === undefined ? "./" : "-",
  ]
}

/**
 * Lets ripgrep leave out files by their names. A wanted glob is given as a file type: as a glob it would bring back
 * what ignore files leave out. Globs over paths are applied to what it finds.
 */
function nameFilter(include: readonly string[]): string[] {
  const names = include.filter((glob) => !glob.includes("/"))
  const wanted = names.filter((glob) => !glob.startsWith("!"))
  if (wanted.length < include.filter((glob) => !glob.startsWith("!")).length) return []
  return [
    ...names.filter((glob) => glob.startsWith("!")).map((glob) => `--glob=${glob}`),
    ...wanted.map((glob) => `--type-add=wanted:${glob}`),
    ...(wanted.length === 0 ? [] : ["--type=wanted"]),
  ]
}

/**
 * Reads `path NUL line : text LF` records; the path in the bytes of the file system, where it may hold line breaks.
 * What is printed between records (that a file turned out to be binary) is on a line of its own.
 *
 * @returns the beginning of a record that is not complete yet
 */
function readRecords(printed: string, hits: Hit[]): string {
  let position = 0
  for (;;) {
    const pathEnd = printed.indexOf("\0", position)
    const end = pathEnd === -1 ? -1 : printed.indexOf("\n", pathEnd)
    if (end === -1) return printed.slice(position)
    const pathStart = printed.lastIndexOf("\n./", pathEnd)
    const path = printed.slice(pathStart < position ? position : pathStart + 1, pathEnd)
    const name = path.startsWith("./") ? Buffer.from(path.slice(2), "latin1").toString("utf8") : ""
    hits.push({ path: name, line: Number.parseInt(printed.slice(pathEnd + 1, end), 10) })
    position = end + 1
  }
}

/** The complaint of an engine about a pattern, with the usual ways out. */
export function invalidPattern(pattern: string, complaint: string): ToolwrightError {
  const said = complaint.trim()
  const reason = (/^error:\s*([\s\S]*)$/mu.exec(said)?.[1] ?? said.split("\n").at(-1) ?? "").replace(/\s+/gu, " ")
  return new ToolwrightError(
    "INVALID_PATTERN",
    `The pattern ${JSON.stringify(pattern.length > 300 ? `${pattern.slice(0, 300)}…` : pattern)} is no valid ` +
      `regular expression: ${reason}`,
    {
      hint: "To look for plain text, set fixed to true. Look-around and back-references are not supported.",
    },
  )
}
