import type { RoleOfCall } from "@toolwright/toolbox"

/**
 * What git may be asked in a shell without handing work in. Whatever is not among it, an alias of somebody's included,
 * may.
 */
const HARMLESS = new Set(
  (
    "add annotate apply archive bisect blame branch bugreport cat-file check-attr check-ignore checkout cherry " +
    "clean clone config " +
    "count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep " +
    "hash-object help init log " +
    "ls-files ls-remote ls-tree merge-base mv name-rev notes range-diff reflog remote reset restore rev-list " +
    "rev-parse rm shortlog show " +
    "show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag var version " +
    "whatchanged worktree"
  ).split(" "),
)
/** Options of git itself that take the next word. */
const WITH_VALUE = new Set([
  "-c",
  "-C",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--exec-path",
  "--config-env",
  "--super-prefix",
])
/** What stands before a program and runs it. */
const WRAPPERS = new Set(
  (
    "builtin command do doas else env eval exec if ionice nice nohup setsid stdbuf sudo then time timeout until " +
    "while xargs !"
  ).split(" "),
)
/** Programs to which git is only a word. */
const TALKERS = new Set(["cat", "echo", "grep", "head", "printf", "rg", "tail"])
/** Git commands that leave the working tree as it is, and so may stand beside a commit in one command line. */
const BESIDE = new Set(["add", "branch", "config", "diff", "log", "rev-parse", "show", "status", "commit", "push"])
const STILL = new Set(["cd", "echo", "pwd", "true", "printf", "ls", "cat", "head", "tail", "export", "set", ":"])

/** What a command line does to the repository, as far as its text tells. */
export interface ShellCommit {
  /** It commits or pushes, or asks git for something that might. */
  handsIn: boolean
  /** Beside that it does something that may change files: what was checked is then not what is handed in. */
  alsoChanges: boolean
}

/**
 * Reads a command line for commits, with quotes, escapes, wrappers (`command`, `env`, `sudo`), options of git and
 * shells in shells. A program that makes its command as it runs cannot be read; where in doubt it counts as a commit,
 * since a needless check costs little.
 */
export function readShellCommit(command: string, depth = 0): ShellCommit {
  const { segments, redirects } = split(withoutDocuments(command))
  let handsIn = false
  let alsoChanges = redirects
  for (const words of segments) {
    const { commits, subcommand } = readSegment(words, depth)
    handsIn ||= commits
    const program = baseName(words.find((word) => !isAssignment(word)) ?? "")
    if (subcommand === undefined ? !commits && program !== "" && !STILL.has(program) : !BESIDE.has(subcommand))
      alsoChanges = true
  }
  return { handsIn, alsoChanges: handsIn && alsoChanges }
}

/** What a command line does for work that is handed in; nothing where it neither commits nor pushes. */
export function roleOfCommand(command: string): RoleOfCall | undefined {
  const { handsIn, alsoChanges } = readShellCommit(command)
  return handsIn ? { role: "commits", alsoChanges, skipsHooks: skipsHooks(command) } : undefined
}

/** Git commands that write commits or branches without asking any hook. */
const PLUMBING = new Set(["commit-tree", "update-ref", "fast-import", "filter-branch", "replace", "symbolic-ref"])

/** Whether a command line that commits tells git, or a manager of hooks, to pass them by. */
function skipsHooks(command: string, depth = 0): boolean {
  return split(withoutDocuments(command)).segments.some((words) =>
    words.some(
      (word, index) =>
        word.startsWith("--no-verif") ||
        (/^-[a-zA-Z]*n[a-zA-Z]*$/.test(word) && words.slice(0, index).includes("commit")) ||
        /hooksPath/i.test(word) ||
        /^(?:HUSKY|SKIP|LEFTHOOK|PRE_COMMIT_\w+|GIT_CONFIG\w*|HUSKY_\w+)=/.test(word) ||
        PLUMBING.has(word) ||
        (/\s/.test(word) && depth < 4 && readShellCommit(word).handsIn && skipsHooks(word, depth + 1)),
    ),
  )
}

/** The programs that a command line names, in their order. */
export function programsIn(command: string): string[] {
  return split(withoutDocuments(command)).segments.flatMap((words) => {
    const program = words.find((word) => !isAssignment(word) && !WRAPPERS.has(baseName(word)))
    return program === undefined ? [] : [baseName(program)]
  })
}

function readSegment(words: readonly string[], depth: number): { commits: boolean; subcommand?: string } {
  const start = words.findIndex(
    (word) => !isAssignment(word) && !WRAPPERS.has(baseName(word)) && !/^-|^\d+[smh]?$/.test(word),
  )
  const program = baseName(words[start] ?? "")
  if (program === "git") return readGit(words.slice(start + 1))
  if (TALKERS.has(program)) return { commits: false }
  const inner = words.some((word) => /\s/.test(word) && depth < 4 && readShellCommit(word, depth + 1).handsIn)
  const plain = words.some((word) => /^(commit|push)$/.test(word))
  const git = words.some((word) => baseName(word) === "git" || word.includes("$"))
  return { commits: inner || (plain && git) }
}

function readGit(words: readonly string[]): { commits: boolean; subcommand?: string } {
  let index = 0
  let alias = false
  for (; words[index]?.startsWith("-"); index++) {
    if (!WITH_VALUE.has(words[index]!)) continue
    index++
    alias ||= /^alias\./i.test(words[index] ?? "")
  }
  const subcommand = words[index]
  if (subcommand === undefined) return { commits: false, subcommand: "version" }
  return { commits: alias || !HARMLESS.has(subcommand), subcommand }
}

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*\+?=/.test(word)
const baseName = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

/** Here-documents are what is written, not what is run, unless a shell reads them. */
function withoutDocuments(command: string): string {
  return command.replace(/^(.*<<-?\s*(['"]?)(\w+)\2.*\n)(?:[\s\S]*?\n)?[ \t]*\3$/gm, (whole, first: string) =>
    /(?:^|[\s/;&|])(?:ba|da|z|k)?sh\b[^\n]*<</.test(first) ? whole : first,
  )
}

/** Simple commands as words without their quotes, and whether anything is written to a file. */
function split(command: string): { segments: string[][]; redirects: boolean } {
  const reader = new SegmentReader(command)
  while (reader.isOpen) reader.step()
  reader.endSegment()
  return reader
}

/** What a redirection is that writes no file: one that reads, to another stream, or to nowhere. */
const HARMLESS_REDIRECTION = /(?:<|>{1,2}\s*(?:&\d|\/dev\/(?:null|stdout|stderr)))/y

class SegmentReader {
  readonly segments: string[][] = []
  redirects = false
  readonly #command: string
  #at = 0
  #words: string[] = []
  #word: string | undefined

  constructor(command: string) {
    this.#command = command
  }

  get isOpen(): boolean {
    return this.#at < this.#command.length
  }

  /** Reads a character, or what it opens. */
  step(): void {
    const character = this.#command[this.#at]!
    if (character === "\\") this.#escaped()
    else if (character === "'") this.#quoted()
    else if (character === '"') this.#doublyQuoted()
    else if (character === ">" || character === "<") this.#redirected()
    else {
      this.#at++
      if (this.#endsSegment(character)) this.endSegment()
      else if (/\s/.test(character)) this.#endWord()
      else this.#take(character)
    }
  }

  endSegment(): void {
    this.#endWord()
    if (this.#words.length > 0) this.segments.push(this.#words)
    this.#words = []
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word)
    this.#word = undefined
  }

  #take(text: string): void {
    this.#word = (this.#word ?? "") + text
  }

  #endsSegment(character: string): boolean {
    if (character === "{" && this.#word?.endsWith("$")) return false
    if (character === "}" && this.#word?.includes("${")) return false
    return /[;&|\n(){}`]/.test(character)
  }

  #escaped(): void {
    const next = this.#command[this.#at + 1] ?? ""
    if (next !== "\n") this.#take(next)
    this.#at += 2
  }

  #quoted(): void {
    const end = endOf(this.#command, "'", this.#at + 1)
    this.#take(this.#command.slice(this.#at + 1, end))
    this.#at = end + 1
  }

  #doublyQuoted(): void {
    this.#take("")
    for (this.#at++; this.isOpen && this.#command[this.#at] !== '"'; this.#at++) {
      if (this.#command[this.#at] === "\\") this.#at++
      this.#take(this.#command[this.#at] ?? "")
    }
    this.#at++
  }

  #redirected(): void {
    if (this.#word !== undefined && /^\d+$/.test(this.#word)) this.#word = undefined
    this.#endWord()
    HARMLESS_REDIRECTION.lastIndex = this.#at
    const harmless = HARMLESS_REDIRECTION.exec(this.#command)
    if (harmless === null) this.redirects = true
    this.#at += harmless?.[0].length ?? 1
  }
}

function endOf(text: string, character: string, from: number): number {
  const end = text.indexOf(character, from)
  return end === -1 ? text.length : end
}
