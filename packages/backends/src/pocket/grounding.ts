import type { GroundingRules } from "@toolwright/logits"

/** Commands that people ask for without writing them. */
const COMMANDS = [
  "npm install",
  "npm start",
  "npm run build",
  "npm run lint",
  "npx tsc --noEmit",
  "node --version",
  "date",
  "df -h",
  "whoami",
  "pwd",
  "uname -a",
  "git log --oneline -10",
  "git pull",
  "git push",
]

/** File patterns that people ask for by the name of what is in the files. */
const GLOBS: readonly (readonly [named: RegExp, glob: string])[] = [
  [/\bpython\b/i, "*.py"],
  [/\btypescript\b/i, "*.ts"],
  [/\bjavascript\b/i, "*.js"],
  [/\bmarkdown\b/i, "*.md"],
  [/\bjson\b/i, "*.json"],
  [/\btext\b/i, "*.txt"],
  [/\byaml\b/i, "*.yaml"],
  [/\bcss\b/i, "*.css"],
  [/\bhtml\b/i, "*.html"],
  [/\brust\b/i, "*.rs"],
  [/\bgo(lang)?\b/i, "*.go"],
  [/\blogs?\b/i, "*.log"],
  [/\bcsv\b/i, "*.csv"],
  [/\bsql\b/i, "*.sql"],
  [/\b(shell|bash)\b/i, "*.sh"],
]

/** The top of a file need not be said as a number. */
const FIRST = { kind: "number", also: ["1"] } as const
const HERE = { kind: "path", also: ["."] } as const

/**
 * From where in a conversation the pocket model's arguments must come: paths and numbers that were named, texts that
 * were said or read.
 * Few things may be written without having been said: the current folder, the pattern of a language that was named,
 * common commands.
 *
 * @param conversation what was said and returned so far
 */
export function pocketGrounding(conversation: string): GroundingRules {
  const globs = GLOBS.filter(([named]) => named.test(conversation)).map(([, glob]) => glob)
  const pattern = { kind: "span", also: globs } as const
  return {
    read_text_file: { path: "path", head: "number", tail: "number", start_line: "number", end_line: "number" },
    list_directory: { path: HERE },
    search_files: { path: HERE, pattern },
    search_grep: { pattern: "span", path: "path", include: pattern },
    write_file: { path: "path", content: "span" },
    edit_file: { path: "path", old_text: "span", new_text: "span" },
    create_directory: { path: "path" },
    delete_file: { path: "path" },
    move_file: { source: "path", destination: "path" },
    get_file_info: { path: "path" },
    get_directory_tree: { path: HERE },
    bash: { command: { kind: "span", also: COMMANDS } },
    git_commit: { message: "span" },
    web_search: { query: "span" },
    echo: { message: "span" },
    append_file: { path: "path", content: "span" },
    insert_lines: { path: "path", before_line: FIRST, after_line: "number", content: "span" },
  }
}
