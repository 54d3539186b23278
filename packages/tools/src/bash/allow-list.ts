/** A verdict on a command: the programs that it names, or why that cannot be told. */
export type CommandScan = { readonly programs: readonly string[] } | { readonly refused: string }

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
 * Finds the programs that a command line names, for the check against an allow list. Simple commands joined by `;`,
 * `&&`, `||`, `|`,
 * `&` and line ends are understood, with quotes, redirections and assignments; whatever could name a program in another
 * way
 * (substitutions, here-documents, functions, loops, a variable in the program's place) is refused, not guessed at.
 */
export function scanCommand(command: string): CommandScan {
  const programs: string[] = []
  if (command.includes("\r")) return { refused: "carriage returns (end lines with a line feed alone)" }
  let atStart = true
  let program = ""
  let position = 0
  let index = 0
  while (index < command.length) {
    const character = command[index]!
    if (character === " " || character === "\t") index++
    else if (character === "#") index = lineEnd(command, index)
    else if (character === "\n" || character === ";" || character === "&" || character === "|") {
      if (command.startsWith("&>", index)) index += command.startsWith("&>>", index) ? 3 : 2
      else {
        atStart = true
        index++
      }
    } else if (character === "(" || character === ")") return { refused: "parentheses (subshells and functions)" }
    else if (character === "<" || character === ">") {
      if (/^(<<|<\(|>\()/u.test(command.slice(index))) return { refused: "here-documents and process substitution" }
      index += /^(?:>>|>\||<>|>&|<&|>|<)/u.exec(command.slice(index))![0].length
      while (command[index] === " ") index++
      const word = readWord(command, index)
      if ("refused" in word) return word
      index = word.end
    } else {
      const word = readWord(command, index)
      if ("refused" in word) return word
      index = word.end
      if (/^\d+$/u.test(word.text) && (command[index] === ">" || command[index] === "<")) continue
      const assigned = atStart ? /^([A-Za-z_]\w*)\+?=/u.exec(word.raw)?.[1] : undefined
      if (assigned !== undefined && TREACHEROUS.test(assigned)) return { refused: `the variable ${assigned}` }
      if (!atStart) {
        position++
        if (isEvaluated(program, word, position))
          return { refused: `an argument of ${program} that the shell may evaluate` }
        continue
      }
      if (assigned !== undefined) continue
      if (word.variable) return { refused: "a variable in the place of a program" }
      if (KEYWORDS.has(word.text)) return { refused: `the shell keyword '${word.text}'` }
      if (!HARMLESS.has(word.text)) programs.push(word.text)
      program = word.text
      position = 0
      atStart = false
    }
  }
  return { programs }
}

type Reading = { text: string; raw: string; end: number; variable: boolean }
type Word = Reading | { refused: string }

/**
 * Whether an argument makes a harmless command take another one for the name of a variable: the shell evaluates the
 * subscript of such a name
 * (`a[$(rm x)]`), quoted or not. A variable could hold such an option.
 */
function isEvaluated(program: string, { text, raw, variable }: Reading, position: number): boolean {
  if (program === "printf") return position === 1 && (variable || text.startsWith("-v"))
  if (program === "wait") return (variable && raw !== "$!") || /^-\w*p/u.test(text)
  return program === "test" && (variable || text === "-v" || text === "-R")
}

function readWord(command: string, start: number): Word {
  let text = ""
  let variable = false
  let index = start
  while (index < command.length && !/[ \t\n;&|<>()]/u.test(command[index]!)) {
    const character = command[index]!
    if (character === "\\") {
      if (command[index + 1] !== "\n") text += command[index + 1] ?? ""
      index += 2
    } else if (character === "'") {
      const end = command.indexOf("'", index + 1)
      if (end === -1) return { refused: "a quote without its end" }
      text += command.slice(index + 1, end)
      index = end + 1
    } else if (character === '"') {
      index++
      for (; command[index] !== '"'; index++) {
        if (index >= command.length) return { refused: "a quote without its end" }
        if (isSubstitution(command, index)) return { refused: "command substitution" }
        if (command[index] === "$") variable = true
        if (command[index] === "\\") index++
        text += command[index] ?? ""
      }
      index++
    } else {
      if (isSubstitution(command, index)) return { refused: "command substitution" }
      if (character === "$" && command[index + 1] === "'") return { refused: "$'…' quoting" }
      if (/[$*?[~{]/u.test(character)) variable = true
      text += character
      index++
    }
  }
  return { text, raw: command.slice(start, index), end: index, variable }
}

function isSubstitution(command: string, index: number): boolean {
  return command[index] === "`" || (command[index] === "$" && /[({[]/u.test(command[index + 1] ?? ""))
}

function lineEnd(command: string, index: number): number {
  const end = command.indexOf("\n", index)
  return end === -1 ? command.length : end
}
