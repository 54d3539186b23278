import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { commandFor } from "./command.ts"
import type { Reading } from "./pairing.ts"

/** Tools that a person calls by hand for what the model has none for. */
export interface Hands {
  /** Runs a command line. */
  readonly run: string
  /** Writes a whole file. */
  readonly write: string
  readonly removeFolder: string
}

/** How requests begin that want something to be as it was, politeness before them left out. */
const TAKES_BACK =
  /^(?:(?:please|oops|oh|no|wait|sorry|ok|okay|now|then|can|could|would|you)\b[\s,.!:]*)*(?:undo|revert|restore|undelete|(?:take|bring|roll|put) (?:(?!and\b)[\w./-]+ ){0,6}back)(?=[\s,;:!?]|\.?$)/i

/** What is answered where a person wants something back: no tool of its does that, a command does. */
export function beyond(request: string, hands: Hands, root?: string): string | undefined {
  if (TAKES_BACK.test(request)) return TAKE_BACK
  const [, what] = NO_TOOL.exec(request) ?? []
  if (what !== undefined) return NO_TOOL_FOR(what.toLowerCase())
  for (const [form, answer] of BY_HAND) {
    const [, path] = form.exec(request.trim()) ?? []
    if (path !== undefined) return answer(path.replace(/[.?!]$/, ""), hands)
  }
  return ofFolder(request.trim(), hands, root) ?? unnamedFile(request.trim(), root)
}

const byHand = (what: string, name: string, args: Reading["arguments"]): string =>
  `I can't ${what}: none of the tools that I know does that. To do it yourself:\n` +
  `  ${commandFor({ name, arguments: args })}`

function folderGoes(path: string, { removeFolder }: Hands): string {
  return byHand("delete folders", removeFolder, { path })
}

const FOLDER = "[\"'`]?([\\w-][\\w./-]*?)/?[\"'`]?(?: folder| directory)?"
const REMOVAL = new RegExp(`^(?:please )?(?:delete|remove|get rid of) (?:the )?${FOLDER}[.!]?$`, "i")

/** A folder that is there and is to go: the tool that it would take deletes files alone. */
function ofFolder(request: string, hands: Hands, root: string | undefined): string | undefined {
  const [, path = ""] = REMOVAL.exec(request) ?? []
  if (root === undefined || path === "" || path.split("/").includes("..")) return undefined
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? folderGoes(path, hands) : undefined
}

const TEXT = "(?:(?:some|a|an|the) )?[\"'`]?(\\S+(?: \\S+){0,4}?)[\"'`]?"
const WHICH = "(?:the|my|our) (?:([a-z]+) )?(list|file|notes?)"
const UNNAMED = new RegExp(`^(?:please )?(?:add|put|append) ${TEXT} (?:to|on|onto|in|into) ${WHICH}[.!]?$`, "i")
/** Names in a folder that are looked at for one that is like what was said. */
const MOST_NAMES = 2000

/** A file that is not told by its name: which one is asked, with the file that is likeliest meant. */
function unnamedFile(request: string, root: string | undefined): string | undefined {
  const [, text, kind, what] = UNNAMED.exec(request) ?? []
  if (text === undefined || what === undefined) return undefined
  const words = [kind ?? what, what].map((word) => word.toLowerCase().replace(/s$/, ""))
  const names = root === undefined ? [] : filesIn(root)
  const near = words.flatMap((word) => names.filter((name) => name.toLowerCase().includes(word)))[0]
  const kindOf = what.toLowerCase()
  return `Which ${kindOf} do you mean? Name its file, as in: add "${text}" to ${near ?? `${kindOf}.txt`}`
}

function filesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_NAMES)
    return entries.flatMap((entry) => (entry.isFile() && /^[\w-][\w.-]*$/.test(entry.name) ? [entry.name] : [])).sort()
  } catch {
    return []
  }
}

/** A name that can only be one of a file or folder: one word, in quotes or not. */
const NAME = /(?!(?:everything|all|it|this|that|them|these|those)\b)["'`]?([\w./-]+)["'`]?[.?!]?$/.source

/**
 * Whole requests that it would take for others, by what is near: a backup for a look, an emptied file for a shorter
 * one, a folder for a file. What a person can do about each, with what they named.
 */
const BY_HAND: readonly (readonly [RegExp, (named: string, hands: Hands) => string])[] = [
  [
    new RegExp(
      `^(?:please )?(?:(?:make|create|take) a back-?up (?:copy )?of|back ?up) (?:the )?(?:file )?${NAME}`,
      "i",
    ),
    (path, { run }) => byHand("make backups", run, { command: `cp -R ${path} ${path}.bak` }),
  ],
  [
    new RegExp(
      `^(?:please )?(?:empty|clear|blank) (?:out )?(?:the )?(?:file )?${NAME.replace("+)", "*\\.\\w+)")}`,
      "i",
    ),
    (path, { write }) => byHand("empty a file", write, { path, content: "" }),
  ],
  [new RegExp(`^(?:please )?(?:delete|remove) the (?:folder|directory) ${NAME}`, "i"), folderGoes],
]

/**
 * How requests begin for which there is no tool; the model would offer the next best thing that can be done to a file.
 */
const NO_TOOL = /^(?:please )?(sort|merge|count the words|summari[sz]e|translate|compress|zip|encrypt) /i
const NO_TOOL_FOR = (what: string): string =>
  `I can't ${what}: no tool of mine does that. I can read, write, search and move files, run commands and ` +
  "tests, and use git."

const TAKE_BACK =
  "I can't take anything back, but `toolwright undo` can: it brings back the files that the last run changed, " +
  "not what was committed, and `toolwright undo --dry-run` shows them first."
