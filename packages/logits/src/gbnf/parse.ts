import { ToolwrightError } from "@toolwright/toolbox"
import type { CodePointRange } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode, GbnfProblem, GbnfRule } from "./model.ts"
import { RepetitionCount } from "./repetition-count.ts"
import { GbnfScanner, GbnfSyntax } from "./scanner.ts"

/** How deep parentheses may nest. */
const MAX_DEPTH = 500

/** What reading a grammar gave: the grammar, unless a syntax error stopped it, and what is wrong with its text. */
export interface GbnfReading {
  readonly grammar?: GbnfGrammar
  readonly problems: readonly GbnfProblem[]
}

/**
 * Reads GBNF text without throwing. Stops at the first syntax error. What can only be seen in the text itself
 * (repetition limits of llama.cpp, reversed bounds, empty classes) is reported here; everything else by `checkGbnf`.
 */
export function readGbnf(text: string): GbnfReading {
  const scanner = new GbnfScanner(text)
  const problems: GbnfProblem[] = []
  try {
    return { grammar: { rules: new Reader(scanner, problems).rules() }, problems }
  } catch (thrown) {
    if (!(thrown instanceof GbnfSyntax)) throw thrown
    const { at, message, expected } = thrown
    return { problems: [{ severity: "error", code: "syntax", message, expected, ...at }] }
  }
}

/**
 * Parses GBNF text.
 *
 * @throws ToolwrightError `GBNF_SYNTAX` with line, column and what was expected there
 */
export function parseGbnf(text: string): GbnfGrammar {
  const { grammar, problems } = readGbnf(text)
  if (grammar !== undefined) return grammar
  throw new ToolwrightError(
    "GBNF_SYNTAX",
    `The grammar cannot be read: ${problems.map(describeGbnfProblem).join("; ")}.`,
  )
}

/** A problem as one line of text. */
export function describeGbnfProblem(problem: GbnfProblem): string {
  return `line ${problem.line}, column ${problem.column}: ${problem.message}`
}

class Reader {
  readonly #scanner: GbnfScanner
  readonly #problems: GbnfProblem[]
  readonly #count = new RepetitionCount()
  #rule = ""
  #depth = 0

  constructor(scanner: GbnfScanner, problems: GbnfProblem[]) {
    this.#scanner = scanner
    this.#problems = problems
  }

  rules(): GbnfRule[] {
    const rules: GbnfRule[] = []
    this.#scanner.space(true)
    while (!this.#scanner.done) rules.push(this.#oneRule())
    return rules
  }

  #oneRule(): GbnfRule {
    const scanner = this.#scanner
    const { at } = scanner
    const name = scanner.name()
    if (name === "")
      throw scanner.wrong("a rule name (a rule goes on in the next line only inside parentheses or after '|' or '::=')")
    this.#rule = name
    this.#count.name(name)
    scanner.space(false)
    scanner.expect("::=")
    scanner.space(true)
    const body = this.#choice(false)
    if (!scanner.done && !scanner.take("\r\n") && !scanner.take("\n") && !scanner.take("\r")) {
      throw scanner.wrong("'|', a symbol, a repetition or the end of the line")
    }
    scanner.space(true)
    return { name, body, at }
  }

  #choice(nested: boolean): GbnfNode {
    if (++this.#depth > MAX_DEPTH) throw this.#scanner.wrong(`at most ${MAX_DEPTH} nested parentheses`)
    const options = [this.#sequence(nested)]
    while (this.#scanner.take("|")) {
      this.#scanner.space(true)
      options.push(this.#sequence(nested))
    }
    this.#depth--
    return options.length === 1 ? options[0]! : { kind: "choice", options }
  }

  #sequence(nested: boolean): GbnfNode {
    const items: GbnfNode[] = []
    for (;;) {
      const { at } = this.#scanner
      const bounds = this.#bounds(nested)
      if (bounds !== undefined) {
        const item = items.pop()
        if (item === undefined || (item.kind === "literal" && item.text.length === 0)) {
          throw new GbnfSyntax(at, "a symbol before a repetition", "the repetition alone")
        }
        items.push({ kind: "repeat", item, ...bounds, at })
        this.#checkBounds(bounds, at)
        this.#scanner.space(nested)
        continue
      }
      const symbol = this.#symbol()
      if (symbol === undefined) break
      items.push(symbol)
      this.#scanner.space(nested)
    }
    return items.length === 1 ? items[0]! : { kind: "sequence", items }
  }

  #symbol(): GbnfNode | undefined {
    const scanner = this.#scanner
    const { at } = scanner
    if (scanner.take('"')) return this.#literal()
    if (scanner.take("[")) return this.#class(at)
    if (scanner.take(".")) {
      this.#count.symbol()
      return { kind: "any" }
    }
    if (scanner.peek() === "<" || scanner.peek() === "!") return this.#token()
    if (scanner.take("(")) {
      scanner.space(true)
      const close = this.#count.group()
      const inner = this.#choice(true)
      scanner.expect(")", "')', '|' or a symbol")
      close()
      return inner.kind === "repeat" || inner.kind === "sequence" || inner.kind === "choice"
        ? inner
        : { kind: "sequence", items: [inner] }
    }
    const name = scanner.name()
    if (name === "") return undefined
    this.#count.name(name)
    this.#count.symbol()
    return { kind: "rule", name, at }
  }

  #literal(): GbnfNode {
    this.#count.symbol()
    const text: number[] = []
    while (!this.#scanner.take('"')) {
      if (this.#scanner.done) throw this.#scanner.wrong("'\"' at the end of the literal")
      text.push(this.#scanner.character())
    }
    return { kind: "literal", text }
  }

  #class(at: { line: number; column: number }): GbnfNode {
    const scanner = this.#scanner
    this.#count.symbol()
    const negated = scanner.take("^")
    const ranges: CodePointRange[] = []
    while (!scanner.take("]")) {
      if (scanner.done) throw scanner.wrong("']' at the end of the character class")
      const start = scanner.at
      const first = scanner.character()
      let last = first
      if (scanner.peek() === "-" && scanner.peek(1) !== "]") {
        scanner.next()
        last = scanner.character()
      }
      if (last < first) throw new GbnfSyntax(start, "a range from the lower to the higher character", "the reverse")
      ranges.push([first, last])
    }
    if (ranges.length === 0) {
      // llama.cpp drops an empty class: it then matches the empty text, whatever was meant.
      this.#problem("empty-class", "error", `this character class is empty; write '.' for any character`, at)
    }
    return { kind: "class", negated, ranges }
  }

  #token(): GbnfNode {
    const scanner = this.#scanner
    const { at } = scanner
    this.#count.symbol()
    const negated = scanner.take("!")
    scanner.expect("<", "'<' of a token")
    if (scanner.take("[")) {
      const id = scanner.integer("a token number")
      scanner.expect("]")
      scanner.expect(">")
      return { kind: "token", negated, id, at }
    }
    let text = "<"
    while (!scanner.done && scanner.peek() !== ">" && scanner.peek() !== "\n") text += scanner.next()
    scanner.expect(">", "'>' at the end of the token")
    return { kind: "token", negated, text: `${text}>`, at }
  }

  #bounds(nested: boolean): { min: number; max?: number } | undefined {
    const scanner = this.#scanner
    if (scanner.take("*")) return { min: 0 }
    if (scanner.take("+")) return { min: 1 }
    if (scanner.take("?")) return { min: 0, max: 1 }
    if (!scanner.take("{")) return undefined
    scanner.space(nested)
    const min = scanner.integer("a number of repetitions")
    scanner.space(nested)
    if (scanner.take("}")) return { min, max: min }
    scanner.expect(",", "',' or '}'")
    scanner.space(nested)
    if (scanner.take("}")) return { min }
    const max = scanner.integer("a number of repetitions or '}'")
    scanner.space(nested)
    scanner.expect("}")
    return { min, max }
  }

  #checkBounds({ min, max }: { min: number; max?: number }, at: { line: number; column: number }): void {
    if (max !== undefined && max < min) {
      // llama.cpp v0.5.0 does not notice this and fills all memory.
      return this.#problem(
        "reversed-bounds",
        "error",
        `at least ${min} but at most ${max} repetitions is impossible`,
        at,
      )
    }
    const limit = this.#count.repeat(min, max)
    if (limit === "refused") {
      this.#problem(
        "too-many-repetitions",
        "error",
        "llama.cpp refuses this many repetitions of a symbol of this size; nest two smaller ones",
        at,
      )
    } else if (limit === "unlimited") {
      this.#problem(
        "unlimited-repetition",
        "error",
        `llama.cpp takes a limit above 2000 (here ${max}) for no limit at all; nest two smaller ones`,
        at,
      )
    }
  }

  #problem(
    code: GbnfProblem["code"],
    severity: GbnfProblem["severity"],
    message: string,
    at: { line: number; column: number },
  ): void {
    this.#problems.push({ severity, code, message, rule: this.#rule, line: at.line, column: at.column })
  }
}
