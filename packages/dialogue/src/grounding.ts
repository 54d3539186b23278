import type { Backend } from "@toolwright/backends"
import { type Grounding, type GroundingRules, MAX_GROUNDING_TEXT } from "@toolwright/logits"
import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/**
 * Which arguments must come from the conversation where calls are held by a grammar. `auto` (the default): those of
 * {@link DEFAULT_GROUNDING} where the backend says that its model is small, none elsewhere. Rules of one's own, or a
 * function that makes
 * them from what was said, count with every model; so do then the annotations `grounded` of the tools.
 */
export type GroundingSetting = "auto" | "off" | GroundingRules | ((text: string) => GroundingRules)

/** What a listing or a search begins at may go unsaid. */
const HERE = { kind: "path", also: ["."] } as const

const EXTENSIONS = [
  "c",
  "cpp",
  "cs",
  "css",
  "csv",
  "env",
  "go",
  "h",
  "html",
  "java",
  "jpg",
  "js",
  "json",
  "jsonl",
  "jsx",
  "kt",
  "lock",
  "log",
  "md",
  "mjs",
  "pdf",
  "php",
  "png",
  "py",
  "rb",
  "rs",
  "scss",
  "sh",
  "sql",
  "svg",
  "swift",
  "toml",
  "ts",
  "tsx",
  "txt",
  "vue",
  "xml",
  "yaml",
  "yml",
  "zip",
]
/** Parts of names, and the patterns of file types, which are asked for by name. */
const FILES = { kind: "span", also: ["*", ...EXTENSIONS.map((extension) => `*.${extension}`)] } as const

/**
 * Paths and file patterns of the built-in tools. What a call makes anew is not among them (`write_file`,
 * `create_directory`): its name may
 * be the model's own idea.
 */
export const DEFAULT_GROUNDING: GroundingRules = {
  read_text_file: { path: "path" },
  read_media_file: { path: "path" },
  read_multiple_files: { paths: "path" },
  edit_file: { path: "path" },
  list_directory: { path: HERE },
  list_directory_with_sizes: { path: HERE },
  get_directory_tree: { path: HERE },
  get_file_info: { path: HERE },
  search_files: { path: HERE, pattern: FILES },
  delete_file: { path: "path" },
  delete_directory: { path: "path" },
  move_file: { source: "path", destination: "path" },
  file_read: { path: "path" },
  file_replace: { path: "path" },
  file_append: { path: "path" },
  file_delete: { path: "path" },
  code_edit_get_lines: { path: "path" },
  code_edit_edit_lines: { path: "path" },
  code_edit_insert_at_line: { path: "path" },
  code_edit_delete_lines: { path: "path" },
  search_grep: { path: HERE, include: FILES },
  search_find_files: { path: HERE, pattern: FILES },
  search_find_in_file: { path: "path" },
  search_find_definition: { path: HERE },
  navigate_outline: { path: "path" },
  navigate_imports: { path: "path" },
  navigate_definitions: { path: HERE },
  navigate_references: { path: HERE },
  navigate_tree: { path: HERE },
  navigate_list_directory: { path: HERE },
  git_add: { files: HERE },
  test: { files: "path" },
}

/** The grounding of the next request; nothing where arguments are free. */
export function groundingOf(
  setting: GroundingSetting | undefined,
  backend: Backend,
  said: readonly string[],
  messages: readonly ChatMessage[],
): Grounding | undefined {
  if (setting === "off") return undefined
  if ((setting === undefined || setting === "auto") && backend.abilities.small !== true) return undefined
  const text = backend.groundingText?.(messages) ?? joinSaid(said)
  const rules =
    setting === undefined || setting === "auto"
      ? DEFAULT_GROUNDING
      : typeof setting === "function"
        ? setting(text)
        : setting
  return { text, rules }
}

/** Of one long text so much is kept, most of it from its beginning. */
const SHARE = { head: (MAX_GROUNDING_TEXT * 3) / 8, tail: MAX_GROUNDING_TEXT / 8 }

/** No span reaches from one text into the next. */
function joinSaid(said: readonly string[]): string {
  return said
    .map((text) =>
      text.length <= SHARE.head + SHARE.tail ? text : `${text.slice(0, SHARE.head)}\0${text.slice(-SHARE.tail)}`,
    )
    .join("\0")
}

/**
 * The texts in messages that were said by the user, returned by tools or given to them. Instructions and the model's
 * own words are not.
 */
export function saidIn(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role === "assistant") return (message.toolCalls ?? []).flatMap(({ args }) => textsOf(args))
    return message.role === "system" ? [] : [message.content]
  })
}

/** The strings and numbers in a call's arguments. */
export function textsOf(value: JsonObject | unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : []
}
