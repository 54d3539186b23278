import type { CommandReading, Reading } from "./simple-command.ts"

export type { CommandReading }

const KEYWORDS = new Set([
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "for",
  "while",
  "until",
  "do",
  "done",
  "case",
  "esac",
  "in",
  "select",
  "function",
  "time",
  "coproc",
  "[[",
  "{",
  "}",
  "!",
])
/** What only runs inside the shell and touches nothing by itself. */
const HARMLESS = new Set(["cd", "echo", "printf", "true", "false", "test", "[", "pwd", "exit", ":", "wait"])
/** Variables by which an allowed program can be made to run another one. */
const TREACHEROUS =
  /^(PATH|ENV|HOME|IFS|PS4|SHELL|VISUAL|BASH|LD_|DYLD_|LESS|XDG_|NODE_|NPM_|PYTHON|PERL|RUBY|RUSTC|CARGO_|CC$|CXX$|GIT_|.*(PATH|OPTIONS|PRELOAD|FLAGS|PAGER|EDITOR|WRAPPER|_RSH)$)/iu

/**
 * Reads a command line for the check against an allow list. Simple commands joined by `;`, `&&`, `||`, `|`, `&` and
 * line ends are understood, with quotes, redirections and assignments; whatever could name a program in another way
 * (substitutions, here-documents, functions, loops, a variable in the program's place) is refused, not guessed at.
 */
export function readCommand(command: string): CommandReading {
  if (command.includes("\r")) return { refused: "carriage returns (end lines with a line feed alone)" }
  const commands: Building[] = [begin()]
  let index = pastSpace(command, 0)
  while (index < command.length) {
    const end = readPart(command, index, commands)
    if (typeof end !== "number") return end
    index = pastSpace(command, end)
  }
  const programs = commands.map(({ program }) => program).filter((program) => program !== "" && !HARMLESS.has(program))
  return {
    programs,
    commands: commands.filter((one) => one.program + one.assigned.join("") + one.redirects.join("") !== ""),
  }
}

/** The place behind white space, continued lines and comments. */
function pastSpace(command: string, start: number): number {
  for (let index = start; ;) {
    const character = command[index]
    if (character === " " || character === "\t") index++
    else if (command.startsWith("\\\n", index)) index += 2
    else if (character === "#") index = lineEnd(command, index)
    else return index
  }
}

/** Reads a word, a redirection or what joins two commands. @returns where it ends, or why the command is refused */
function readPart(command: string, index: number, commands: Building[]): number | { refused: string } {
  const character = command[index]!
  if (character === "(" || character === ")") return { refused: "parentheses (subshells and functions)" }
  if (character === "<" || character === ">" || command.startsWith("&>", index)) {
    const word = readTarget(command, index)
    if ("refused" in word) return word
    commands.at(-1)!.redirects.push(word)
    return word.end
  }
  if (/[\n;&|]/u.test(character)) {
    commands.push(begin())
    return index + 1
  }
  const word = readWord(command, index)
  if ("refused" in word) return word
  // The number of a descriptor, where a redirection follows at once.
  if (/^\d+$/u.test(word.raw) && /[<>]/u.test(command[word.end] ?? "")) return word.end
  const refused = addWord(commands.at(-1)!, word)
  return refused === undefined ? word.end : { refused }
}

interface Building {
  program: string
  readonly args: Reading[]
  readonly assigned: string[]
  readonly redirects: Reading[]
}

function begin(): Building {
  return { program: "", args: [], assigned: [], redirects: [] }
}

/** Adds a word to a simple command. @returns why the command is refused */
function addWord(command: Building, word: Reading): string | undefined {
  if (command.program !== "") {
    command.args.push(word)
    const { program, args } = command
    return isEvaluated(program, word, args.length) ? `an argument of ${program} that the shell may evaluate` : undefined
  }
  const assigned = /^([A-Za-z_]\w*)\+?=/u.exec(word.raw)?.[1]
  if (assigned !== undefined) {
    command.assigned.push(assigned)
    return TREACHEROUS.test(assigned) ? `the variable ${assigned}` : undefined
  }
  if (word.variable) return "a variable in the place of a program"
  if (KEYWORDS.has(word.text)) return `the shell keyword '${word.text}'`
  if (word.text === "") return "an empty name in the place of a program"
  command.program = word.text
  return undefined
}

/** The word after a redirection's sign. */
function readTarget(command: string, start: number): Word {
  if (/^(<<|<\(|>\()/u.test(command.slice(start, start + 2)))
    return { refused: "here-documents and process substitution" }
  let index = start + /^(?:&>>|&>|>>|>\||<>|>&|<&|>|<)/u.exec(command.slice(start, start + 3))![0].length
  for (; /[ \t]/u.test(command[index] ?? "") || command.startsWith("\\\n", index); index++)
    if (command[index] === "\\") index++
  const word = readWord(command, index)
  return "refused" in word || word.end > index ? word : { refused: "a redirection to nothing" }
}

type Word = Reading | { refused: string }

/**
 * Whether an argument makes a harmless command take another one for the name of a variable: the shell evaluates the
 * subscript of such a name (`a[$(rm x)]`), quoted or not. A variable could hold such an option.
 */
function isEvaluated(program: string, { text, raw, variable }: Reading, position: number): boolean {
  if (program === "printf") return position === 1 && (variable || text.startsWith("-v"))
  if (program === "wait") return (variable && raw !== "$!") || /^-\w*p/u.test(text)
  return (program === "test" || program === "[") && (variable || text === "-v" || text === "-R")
}

function readWord(command: string, start: number): Word {
  let text = ""
  let variable = false
  let index = start
  while (index < command.length && !/[ \t\n;&|<>()]/u.test(command[index]!)) {
    const piece = readPiece(command, index)
    if ("refused" in piece) return piece
    text += piece.text
    variable ||= piece.variable
    index = piece.end
  }
  return { text, raw: command.slice(start, index), end: index, variable }
}

/** A part of a word: what stands in one pair of quotes, or one character. */
type Piece = { text: string; end: number; variable: boolean } | { refused: string }

function readPiece(command: string, index: number): Piece {
  const character = command[index]!
  if (character === "\\") {
    const next = command[index + 1] ?? ""
    return { text: next === "\n" ? "" : next, end: index + 2, variable: false }
  }
  if (character === "'") {
    const end = command.indexOf("'", index + 1)
    if (end === -1) return { refused: "a quote without its end" }
    return { text: command.slice(index + 1, end), end: end + 1, variable: false }
  }
  if (character === '"') return readQuoted(command, index + 1)
  if (isSubstitution(command, index)) return { refused: "command substitution" }
  if (character === "$" && command[index + 1] === "'") return { refused: "$'…' quoting" }
  return { text: character, end: index + 1, variable: /[$*?[~{]/u.test(character) }
}

/** What stands in double quotes, of which the first is read. */
function readQuoted(command: string, start: number): Piece {
  let text = ""
  let variable = false
  let index = start
  for (; command[index] !== '"'; index++) {
    if (index >= command.length) return { refused: "a quote without its end" }
    if (isSubstitution(command, index)) return { refused: "command substitution" }
    if (command[index] === "$") variable = true
    const next = command[index] === "\\" ? (command[index + 1] ?? "") : ""
    // A continued line is nothing here too; before any other character a backslash is one.
    if (/[$`"\\\n]/u.test(next)) index++
    text += next === "\n" ? "" : (command[index] ?? "")
  }
  return { text, end: index + 1, variable }
}

function isSubstitution(command: string, index: number): boolean {
  return command[index] === "`" || (command[index] === "$" && /[({[]/u.test(command[index + 1] ?? ""))
}

function lineEnd(command: string, index: number): number {
  const end = command.indexOf("\n", index)
  return end === -1 ? command.length : end
}
