import { spawn } from "node:child_process"
import { ToolwrightError } from "@toolwright/toolbox"
import { LARGEST_SEARCHED, MOST_HITS, type ContentQuery, type Hit, type HitList } from "./query.ts"

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
}

/**
 * Lets ripgrep find the matching lines. It gets no configuration, no environment and no shell; what it prints is cut to the line
 * numbers, since the text of the lines is read through the workspace.
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
  const child = spawn(executable, ripgrepArguments(query, target.input !== undefined), {
    cwd: target.cwd,
    env: {},
    stdio: ["pipe", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal, killSignal: "SIGKILL" as const }),
  })
  // A child that has seen enough closes its input early.
  child.stdin.on("error", () => undefined)
  child.stdin.end(target.input)
  const found: HitList = { hits: [], incomplete: false }
  let rest = ""
  child.stdout.setEncoding("latin1")
  child.stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()!
    for (const line of lines) addHit(found.hits, line, target.input !== undefined)
    if (found.hits.length < MOST_HITS) return
    found.incomplete = true
    child.kill("SIGKILL")
  })
  let complaint = ""
  child.stderr.setEncoding("utf8")
  child.stderr.on("data", (chunk: string) => {
    if (complaint.length < 4000) complaint += chunk
  })
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (thrown) => reject(signal?.aborted ? (signal.reason as Error) : thrown))
    child.on("close", resolve)
  })
  if (status === 2 && found.hits.length === 0 && /regex|glob/u.test(complaint)) throw invalidPattern(query.pattern, complaint)
  return found
}

function ripgrepArguments(query: ContentQuery, fromInput: boolean): string[] {
  return [
    "--no-config",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    "--line-number",
    "--max-columns=1",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--glob=!.git",
    `--max-filesize=${LARGEST_SEARCHED}`,
    ...(query.fixed ? ["--fixed-strings"] : []),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(query.word ? ["--word-regexp"] : []),
    ...(query.includeIgnored ? ["--no-ignore"] : []),
    ...query.include.map((glob) => `--glob=${glob}`),
    "-e",
    query.pattern,
    "--",
    fromInput ? "-" : "./",
  ]
}

/** `./path NUL line : text`, the path in the bytes of the file system. */
function addHit(hits: Hit[], line: string, fromInput: boolean): void {
  const end = line.indexOf("\0")
  if (end === -1) return
  const number = Number.parseInt(line.slice(end + 1), 10)
  if (!Number.isFinite(number)) return
  const path = fromInput ? "" : Buffer.from(line.slice(line.startsWith("./") ? 2 : 0, end), "latin1").toString("utf8")
  hits.push({ path, line: number })
}

/** The complaint of an engine about a pattern, with the usual ways out. */
export function invalidPattern(pattern: string, complaint: string): ToolwrightError {
  const reason = complaint.trim().split("\n").at(-1)?.replace(/^error:\s*/u, "") ?? ""
  return new ToolwrightError("INVALID_PATTERN", `The pattern ${JSON.stringify(pattern)} is no valid regular expression: ${reason}`, {
    hint: "To look for plain text, set fixed to true. Look-around and back-references are not supported.",
  })
}
