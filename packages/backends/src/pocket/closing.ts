import type { ToolResult } from "@toolwright/toolbox"
import { callIn } from "./call.ts"
import type { Step } from "./prompt.ts"
import { POCKET_TOOLS } from "./tools.ts"

/**
 * What is said at the end of a request: one sentence for each call, made from its result and from nothing else. The
 * model says that it is done, not what came of it.
 *
 * @param root the workspace's absolute path, which is left out of paths
 */
export function closingSentence(steps: readonly Step[], root = ""): string {
  const sentences = steps.map((step) => sentenceOf(step))
  const said = [...new Set(sentences)].join(" ")
  return root === "" ? said : said.replaceAll(`${root.replace(/\/+$/, "")}/`, "")
}

type Arguments = Readonly<Record<string, unknown>>

function sentenceOf({ reply, tool, result, recorded }: Step): string {
  if (recorded === undefined) return firstLine(result)
  const args = callIn(reply)?.arguments ?? {}
  if (recorded.metadata.dryRun === true) return "Nothing was run: this is a dry run."
  if (!recorded.success) return failed(tool, recorded)
  if (!POCKET_TOOLS.includes(tool)) return answered(tool, recorded)
  return SENTENCES[tool]?.(args, recorded) ?? firstLine(recorded.output)
}

/** What a tool that it does not know answered: data on one line, or the first line of its text. */
function answered(tool: string, { data, output }: ToolResult): string {
  const text = typeof data === "object" && data !== null ? JSON.stringify(data) : undefined
  return text === undefined || text.length > 200 ? firstLine(output) : `${tool} answered ${text}.`
}

function failed(tool: string, { error, data, output }: ToolResult): string {
  if (error?.code === "PERMISSION_DENIED") return `Not done: ${sentence(error.message)}`
  const { passed, failed: wrong } = fields(data)
  if (error?.code === "TESTS_FAILED" && typeof passed === "number" && typeof wrong === "number")
    return `${wrong} of ${counted(wrong + passed, "test")} failed.`
  const { exit_code: code } = fields(data)
  if (error?.code === "COMMAND_FAILED" && typeof code === "number") return `The command failed: exit code ${code}.`
  return `That failed: ${firstLine(error?.message ?? (output === "" ? `'${tool}' failed` : output))}`
}

/** What each tool's data amounts to; where there is none here, the first line of its text says it. */
const SENTENCES: Readonly<Record<string, (args: Arguments, result: ToolResult) => string | undefined>> = {
  read_text_file: (args, { data }) => {
    const { path, line_count: lines, is_truncated: part, content } = fields(data)
    if (typeof lines !== "number") return undefined
    if (content === "" || lines === 0) return `${named(args, path)} is empty.`
    const partly = part === true || ["head", "tail", "start_line", "end_line"].some((key) => args[key] !== undefined)
    return partly
      ? `${counted(lines, "line")} of ${named(args, path)}.`
      : `${named(args, path)}: ${counted(lines, "line")}.`
  },
  list_directory: (args, { data }) => total(data, (count) => `${counted(count, "entry", "entries")} in ${here(args)}.`),
  search_files: (args, { data }) =>
    total(data, (count) =>
      count === 0
        ? `No file matches ${String(args["pattern"])}.`
        : `${counted(count, "match", "matches")} of ${String(args["pattern"])}.`,
    ),
  search_grep: (args, { data }) =>
    total(data, (count) =>
      count === 0
        ? `No line contains ${String(args["pattern"])}.`
        : `${counted(count, "line")} with ${String(args["pattern"])}.`,
    ),
  get_file_info: (args, { data }) => {
    const { size_bytes: size } = fields(data)
    return typeof size === "number" ? `${String(args["path"])} has ${counted(size, "byte")}.` : undefined
  },
  get_directory_tree: (args) => `The tree of ${here(args)}.`,
  bash: (_, { data }) => {
    const { exit_code: code } = fields(data)
    return typeof code === "number" ? `The command ended with exit code ${code}.` : "The command ended."
  },
  test: (_, { data }) => {
    const { passed, skipped } = fields(data)
    if (typeof passed !== "number") return undefined
    const left = typeof skipped === "number" && skipped > 0 ? `, ${skipped} skipped` : ""
    return `${counted(passed, "test")} passed, none failed${left}.`
  },
  git_diff: (_, { data }) => (fields(data)["diff"] === "" ? undefined : "The differences are above."),
  web_search: () => "These are the results of the search.",
  echo: (args) => String(args["message"]),
}

function total(data: unknown, say: (count: number) => string): string | undefined {
  const { total: count } = fields(data)
  return typeof count === "number" ? say(count) : undefined
}

function here({ path }: Arguments): string {
  return path === undefined || path === "." ? "this folder" : String(path)
}

function named(args: Arguments, path: unknown): string {
  return String(args["path"] ?? path)
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

function fields(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {}
}

function firstLine(text: string): string {
  return sentence(text.trim().split("\n")[0] ?? "")
}

function sentence(text: string): string {
  return text === "" || /[.!?:)]$/.test(text) ? text || "Done." : `${text}.`
}
