import { failure, success, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"
import { pathFailure, printable, definePathTool, type Workspace } from "@toolwright/host/paths"
import { WINDOW_BYTES, WINDOW_OUTPUT_CHARS } from "@toolwright/host/text"
import type { TextFile } from "./read-text.ts"
import { NAMED_PATH, TEXT_FILE } from "./schemas.ts"

const MOST_FILES = 100

export function createReadMultipleFilesTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "read_multiple_files",
    ruledAs: ["read_text_file", "file_read"],
    sets: ["filesystem"],
    title: "Read multiple files",
    description:
      "Reads several text files in one call. A file that cannot be read does not keep the others from being returned.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: several files are short. Don't use when: one is long (use read_text_file).",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["paths[]"] },
    aliases: { arguments: { path: "paths", files: "paths", file_paths: "paths" } },
    maxOutputChars: WINDOW_OUTPUT_CHARS,
    parameters: {
      type: "object",
      properties: {
        paths: { type: "array", items: NAMED_PATH, minItems: 1, maxItems: MOST_FILES, description: "The files" },
      },
      required: ["paths"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        files: {
          type: "array",
          items: {
            anyOf: [
              TEXT_FILE,
              {
                type: "object",
                properties: { path: { type: "string" }, error: { type: "object" } },
                required: ["path", "error"],
              },
            ],
          },
        },
        read: { type: "integer" },
        failed: { type: "integer" },
      },
      required: ["files", "read", "failed"],
    },
    examples: [{ description: "Read two files", input: { paths: ["src/index.ts", "notes.txt"] } }],
    async execute(args, { signal }) {
      const paths = args["paths"] as string[]
      const { readText } = await import("./read-text.ts")
      const results: { path: string; result: ToolResult }[] = []
      for (const path of paths) {
        signal.throwIfAborted()
        results.push({
          path,
          result: await readText(workspace, { path }).catch((thrown: unknown) => pathFailure(thrown, path)),
        })
      }
      return combine(results)
    },
  })
}

function combine(results: readonly { path: string; result: ToolResult }[]): ToolResult {
  const files = results.map(({ path, result }) => {
    if (result.success) return result.data as TextFile
    const { code, message, hint } = result.error
    return { path, error: { code, message, ...(hint === undefined ? {} : { hint }) } }
  })
  const errors = results.flatMap(({ result }) => (result.success ? [] : [result.error]))
  const data = { files, read: results.length - errors.length, failed: errors.length }
  const share = Math.floor(WINDOW_BYTES / results.length)
  const output = results.map(({ path, result }) => `==> ${printable(path)} <==\n${section(result, share)}`).join("\n")
  const [first] = errors
  if (first === undefined || errors.length < results.length) return success({ output, data })
  return failure({ ...first, data, message: errors.map(({ message }) => message).join("\n") })
}

function section({ success: read, output }: ToolResult, share: number): string {
  if (!read) return `Error: ${output}`
  if (output.length <= share) return output
  const kept = output.slice(0, share)
  const shown = kept.slice(0, kept.lastIndexOf("\n") + 1 || share)
  return (
    `${shown}\n[The first ${shown.length} of ${output.length} characters. Read this file with read_text_file ` +
    "for the rest.]"
  )
}
