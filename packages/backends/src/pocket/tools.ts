import { defineTool, failure, splitActions, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"

const text: JsonSchema = { type: "string" }
const whole: JsonSchema = { type: "integer", minimum: 1 }

/**
 * What the model knows of a tool: its arguments in the order in which it writes them, `?` behind those that may be left
 * out.
 */
const SIGNATURES: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  read_text_file: { path: text, "head?": whole, "tail?": whole, "start_line?": whole, "end_line?": whole },
  list_directory: { path: text },
  search_files: { path: text, pattern: text },
  search_grep: { pattern: text, "path?": text, "include?": text },
  write_file: { path: text, content: text },
  edit_file: { path: text, old_text: text, new_text: text },
  create_directory: { path: text },
  delete_file: { path: text },
  move_file: { source: text, destination: text },
  get_file_info: { path: text },
  get_directory_tree: { path: text },
  bash: { command: text },
  test: {},
  git_status: {},
  git_diff: { "staged?": { type: "boolean" } },
  git_commit: { message: text },
  web_search: { query: text },
  echo: { message: text },
  append_file: { path: text, content: text },
  insert_lines: { path: text, "before_line?": whole, "after_line?": whole, content: text },
}

/** The tools that the pocket model was trained on, by the names of their single actions. */
export const POCKET_TOOLS: readonly string[] = Object.keys(SIGNATURES)

/** Those that take something away, or may. */
export const DESTROYING_TOOLS: ReadonlySet<string> = new Set(["bash", "delete_file", "move_file"])

/** The one that takes exactly one of `before_line` and `after_line`, which its schema does not say. */
export const PLACING_TOOL = "insert_lines"

/** The one that writes behind what a file holds. */
export const APPENDING_TOOL = "append_file"

/** Those of them that change nothing: a wrong one does no harm. */
export const READING_TOOLS: ReadonlySet<string> = new Set([
  "read_text_file",
  "list_directory",
  "search_files",
  "search_grep",
  "get_file_info",
  "get_directory_tree",
  "git_status",
  "git_diff",
  "web_search",
  "echo",
])

/**
 * Those of some tools that the pocket model knows, in its own order, each cut down to the arguments that it knows.
 *
 * @param definitions tools as they are registered; one with actions is looked at action by action
 */
export function pocketTools(definitions: readonly ToolDefinition[]): ToolDefinition[] {
  const singles = new Map(definitions.flatMap((tool) => splitActions(tool)).map((tool) => [tool.name, tool]))
  return POCKET_TOOLS.flatMap((name) => {
    const tool = singles.get(name)
    if (tool === undefined) return []
    const { examples: _examples, aliases: _aliases, usageHint: _usageHint, ...rest } = tool
    return [{ ...rest, parameters: schemaOf(name, tool.parameters.properties) }]
  })
}

/**
 * Tools that the model knows and that are not there, as ones that say so. A model that may not name the tool that it
 * means takes another, and one that was asked to delete must not move instead.
 *
 * @param names which of {@link POCKET_TOOLS} are to be stood in for
 */
export function absentPocketTools(names: readonly string[]): ToolDefinition[] {
  return names.map((name) =>
    defineTool({
      name,
      description: "Not available here",
      effects: { readOnly: true },
      parameters: schemaOf(name),
      execute: () =>
        failure({
          code: "TOOL_NOT_AVAILABLE",
          message: `'${name}' is not available here.`,
          hint: "It was left out by the configuration, or the folder may only be read.",
        }),
    }),
  )
}

/** @param known the properties as the tool itself describes them */
function schemaOf(name: string, known: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const signature = Object.entries(SIGNATURES[name]!).map(([argument, schema]) => ({
    argument: argument.replace("?", ""),
    optional: argument.endsWith("?"),
    schema,
  }))
  const required = signature.filter(({ optional }) => !optional).map(({ argument }) => argument)
  return {
    type: "object",
    properties: Object.fromEntries(signature.map(({ argument, schema }) => [argument, known[argument] ?? schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/** The tool that finds the lines of files with a text. */
export const SEARCH_TOOL = "search_grep"

/** The one that tells what is in a folder. */
export const LISTING_TOOL = "list_directory"

export const MOVING_TOOL = "move_file"

export const DELETING_TOOL = "delete_file"

/** The one that puts a text in the place of another. */
export const EDITING_TOOL = "edit_file"

/** The one that puts a text in the place of all that a file holds. */
export const WRITING_TOOL = "write_file"
