/** A result's text before it is counted: what a model of 512 tokens needs of it, in the words of the tool. */
export interface ShapedResult {
  /** In order of importance: shortening keeps the first. */
  readonly lines: readonly string[]
  /** A last line that stays when others are left out. */
  readonly last?: string
}

const LONGEST_LINE = 100

/**
 * Marks of the conversation's own form: in a result they are text, and a file that holds them is no turn of its own.
 */
const MARKS = /<\|?(im_start|im_end|\/?tool_call|\/?tool_response)\|?>/g

/**
 * Leaves out of a result what the pocket model was not made for: the workspace's absolute path, durations, hashes, the
 * frame of a diff. Nothing is added but `(empty)` and `(no output)` for a result without text.
 *
 * @param tool the name of the tool that was called
 * @param text the result as the conversation holds it, without its tags
 * @param root the workspace's absolute path
 */
export function shapeResult(tool: string, text: string, root: string): ShapedResult {
  const local = withoutFolder(text, root, tool !== "bash")
  const tidy = local
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd()
    .replaceAll(MARKS, "[$1]")
  if (tidy.startsWith("Error: ") && !REPORTS.has(tool)) return shaped(failureLines(tidy.split("\n")))
  const shape = SHAPES[tool]
  return shape === undefined ? shaped(tidy.split("\n")) : shape(tidy)
}

/** Tools whose failures are their report, and not a sentence with a hint. */
const REPORTS: ReadonlySet<string> = new Set(["bash", "test"])

/**
 * What lies in the folder begins after its slash; the folder itself, as a line, is `./`, and elsewhere `.` where that
 * is wanted. `/app` in `src/app/main.ts` is another one.
 */
function withoutFolder(text: string, root: string, itself: boolean): string {
  const folder = root.replace(/\/+$/, "")
  if (folder === "") return text
  const literal = folder.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
  const name = `(?<![\\p{L}\\p{N}_./-])${literal}`
  const local = text.replaceAll(new RegExp(`^${literal}/$`, "gm"), "./").replaceAll(new RegExp(`${name}/`, "gu"), "")
  return itself ? local.replaceAll(new RegExp(`${name}(?!\\.?[\\p{L}\\p{N}_/-])`, "gu"), ".") : local
}

/** What is wrong, and a hint that names the way out. */
function failureLines([message = "", hint = ""]: readonly string[]): string[] {
  const said = message.replace(" (not found or permission denied)", "")
  return /^(Did you mean|Make it first with|It is a directory; to move)/.test(hint) ? [said, hint] : [said]
}

const SHAPES: Readonly<Record<string, (text: string) => ShapedResult>> = {
  // The model copies what it has read, so its lines are not cut before they are counted.
  read_text_file: (text) => ({ lines: emptyFile(text) ? ["(empty)"] : text.split("\n") }),
  echo: (text) => shaped([echoed(text)]),
  get_file_info: (text) =>
    shaped(
      text
        .split("\n")
        .filter((line) => /^(path|type|size_bytes|modified_time|permissions):/.test(line))
        .map((line) => line.replace(/(\d{4}-\d\d-\d\d)T[\d:.]+Z$/, "$1")),
    ),
  get_directory_tree: (text) => {
    const lines = text.split("\n")
    return { ...shaped(lines.slice(0, -1)), last: lines.at(-1)! }
  },
  edit_file: (text) => shaped([text.split("\n")[0]!]),
  git_commit: (text) => shaped([text.split("\n")[0]!]),
  git_status: (text) => shaped(text.replace(/^Untracked .*$/m, "Untracked:").split("\n")),
  git_diff: (text) =>
    shaped(
      text.startsWith("No differences")
        ? [text.split("\n")[0]!]
        : text.split("\n").filter((line) => /^(\+\+\+ |[-+](?!--))/.test(line)),
    ),
  search_grep: (text) => shaped(text.split("\n").filter((line) => !line.startsWith("[The pattern "))),
  web_search: (text) =>
    shaped(text.startsWith("Nothing was found") ? [text.split(". Try ")[0]! + "."] : hits(text.split("\n"))),
  bash: (text) => {
    const lines = text
      .replace(/^(Error: )?\[stderr\]\n/, "$1")
      .split("\n")
      .map((line) => line.replace(/^\[exit code (\d+), .*\]$/, "[exit code $1]"))
      .filter((line) => line !== "[stderr]")
    const code = lines.at(-1) ?? ""
    if (code === "[exit code 0]") return shaped(lines.length === 1 ? ["(no output)"] : lines.slice(0, -1))
    return code.startsWith("[exit code ") ? { ...shaped(lines.slice(0, -1)), last: code } : shaped(lines)
  },
}

/** Of each hit its rank and title with its address. */
function hits(lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => (/^\d+\. /.test(line) ? [`${line} - ${(lines[index + 1] ?? "").trim()}`] : []))
}

/** Lines as they are, long ones cut; empty ones are left out. */
function shaped(lines: readonly string[]): ShapedResult {
  return {
    lines: lines
      .filter((line) => line.trim() !== "")
      .map((line) => (line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE).trimEnd()} [cut]`)),
  }
}

/** A tool without text shows its data as JSON: of these two the model needs one field. */
function emptyFile(text: string): boolean {
  return text === "" || fieldOf(text, "content") === ""
}

function echoed(text: string): string {
  const message = fieldOf(text, "echo")
  return typeof message === "string" ? message : text
}

function fieldOf(text: string, name: string): unknown {
  if (!text.startsWith("{")) return undefined
  try {
    return (JSON.parse(text) as Record<string, unknown>)[name]
  } catch {
    return undefined
  }
}
