/**
 * Grammars in Lark, read as what they let be written: rules and terminals alike are rules, and what is ignored may
 * stand after each terminal. A lexer would also keep names from being keywords; here they may be.
 */
import { messageOf } from "@toolwright/toolbox"
import type { GbnfGrammar, GbnfNode, GbnfPosition, GbnfRule } from "../gbnf/model.ts"
import { ClassRoom } from "./class-room.ts"
import { COMMON_TERMINALS } from "./common-terminals.ts"
import { larkError, larkTokens, type LarkToken, type LarkTokenKind } from "./lark-tokens.ts"
import { inBothCases, regexNode } from "./regex-nodes.ts"

const MAX_DEPTH = 100
const IGNORED = "ignored"

/** @throws ToolwrightError `INVALID_GRAMMAR` with the place of what is wrong or not supported */
export function readLark(source: string): GbnfGrammar {
  return new LarkReader(larkTokens(source)).grammar()
}

/** No name in Lark has a hyphen, so different names stay different. */
const ruleName = (name: string): string => `lark-${name.replaceAll("_", "-")}`

class LarkReader {
  readonly #tokens: readonly LarkToken[]
  readonly #rules = new Map<string, GbnfRule>()
  readonly #uses: LarkToken[] = []
  readonly #ignored: GbnfNode[] = []
  readonly #ignores: boolean
  readonly #room = new ClassRoom()
  #at = 0
  #depth = 0
  #inTerminal = false

  constructor(tokens: readonly LarkToken[]) {
    this.#tokens = tokens
    this.#ignores = tokens.some(({ kind, text }) => kind === "directive" && text === "%ignore")
  }

  grammar(): GbnfGrammar {
    while (this.#peek().kind !== "end") {
      if (this.#take("newline") === undefined) this.#statement()
    }
    const missing = this.#uses.find(({ text }) => !this.#rules.has(ruleName(text)))
    if (missing !== undefined)
      throw larkError(missing.at, `'${missing.text}' is not defined`, "Define it, or import it: %import common.INT")
    if (!this.#rules.has(ruleName("start")))
      throw larkError({ line: 1, column: 1 }, "there is no rule 'start'", "The whole text is what 'start' says.")
    const start: GbnfNode = { kind: "rule", name: ruleName("start") }
    const rules = [...this.#rules.values()]
    if (!this.#ignores) return { rules: [{ name: "root", body: start }, ...rules] }
    const root: GbnfNode = { kind: "sequence", items: [{ kind: "rule", name: IGNORED }, start] }
    const item: GbnfNode = { kind: "choice", options: this.#ignored }
    const ignored: GbnfRule = { name: IGNORED, body: { kind: "repeat", item, min: 0 } }
    return { rules: [{ name: "root", body: root }, ...rules, ignored] }
  }

  #statement(): void {
    const token = this.#next()
    if (token.kind === "directive") return this.#directive(token)
    if (token.kind !== "rule" && token.kind !== "terminal")
      throw larkError(token.at, `a rule's name belongs here, not ${shown(token)}`, "name: what it is")
    const name = token.text.replace(/^[!?]+/, "")
    if (this.#sign(".")) this.#expect("number", "the priority")
    if (this.#peek().text === "{" || this.#peek().text === "[")
      throw larkError(this.#peek().at, `templates and attributes of rules are not supported ('${name}')`)
    if (!this.#sign(":")) throw larkError(this.#peek().at, `':' belongs after '${name}', not ${shown(this.#peek())}`)
    this.#inTerminal = token.kind === "terminal"
    this.#define(name, this.#choice(), token.at)
    this.#endOfLine()
  }

  #define(name: string, body: GbnfNode, at: GbnfPosition): void {
    if (this.#rules.has(ruleName(name))) throw larkError(at, `'${name}' is defined twice`)
    this.#rules.set(ruleName(name), { name: ruleName(name), body, at })
  }

  #directive({ text, at }: LarkToken): void {
    this.#inTerminal = true
    if (text === "%ignore") this.#ignored.push(this.#choice())
    else if (text === "%import") this.#import()
    else
      throw larkError(at, `${text} is not supported`, "Write the rule out; %ignore and %import common.NAME are read.")
    this.#endOfLine()
  }

  #import(): void {
    const library = this.#next()
    if (library.text !== "common") throw larkError(library.at, `only 'common' can be imported, not ${shown(library)}`)
    if (this.#sign(".")) {
      const name = this.#expect("terminal", "the name of a terminal")
      const alias = this.#sign("->") ? this.#expect("terminal", "the name that it gets") : name
      return this.#importAs(name, alias.text)
    }
    if (!this.#sign("(")) throw larkError(this.#peek().at, `'.' or '(' belongs here, not ${shown(this.#peek())}`)
    do {
      const name = this.#expect("terminal", "the name of a terminal")
      this.#importAs(name, name.text)
    } while (this.#sign(","))
    if (!this.#sign(")")) throw larkError(this.#peek().at, `')' belongs here, not ${shown(this.#peek())}`)
  }

  #importAs({ text, at }: LarkToken, alias: string): void {
    const pattern = Object.hasOwn(COMMON_TERMINALS, text) ? COMMON_TERMINALS[text] : undefined
    if (pattern !== undefined) return this.#define(alias, regexNode(pattern, "", this.#room), at)
    throw larkError(at, `common has no ${text}`, `It has ${Object.keys(COMMON_TERMINALS).join(", ")}.`)
  }

  #choice(): GbnfNode {
    if (++this.#depth > MAX_DEPTH) throw larkError(this.#peek().at, `more than ${MAX_DEPTH} parentheses in each other`)
    const options = [this.#sequence()]
    while (this.#goesOn()) options.push(this.#sequence())
    this.#depth--
    return options.length === 1 ? options[0]! : { kind: "choice", options }
  }

  /** A line that begins with `|` belongs to the one before it. */
  #goesOn(): boolean {
    let ahead = this.#at
    while (this.#tokens[ahead]!.kind === "newline") ahead++
    if (this.#tokens[ahead]!.text !== "|" || this.#tokens[ahead]!.kind !== "sign") return false
    this.#at = ahead + 1
    return true
  }

  #sequence(): GbnfNode {
    const items: GbnfNode[] = []
    for (let item = this.#item(); item !== undefined; item = this.#item()) items.push(item)
    if (this.#sign("->")) this.#next()
    return items.length === 1 ? items[0]! : { kind: "sequence", items }
  }

  #item(): GbnfNode | undefined {
    const atom = this.#atom()
    if (atom === undefined) return undefined
    if (this.#sign("?")) return { kind: "repeat", item: atom, min: 0, max: 1 }
    if (this.#sign("*")) return { kind: "repeat", item: atom, min: 0 }
    if (this.#sign("+")) return { kind: "repeat", item: atom, min: 1 }
    if (this.#sign("~")) return this.#counted(atom, "..", undefined)
    return this.#sign("{") ? this.#counted(atom, ",", "}") : atom
  }

  /** `~2..5`, or `{2,5}` as llguidance has it. */
  #counted(item: GbnfNode, between: string, close: string | undefined): GbnfNode {
    const least = this.#expect("number", "a number of repetitions")
    const min = Number(least.text)
    let max: number | undefined = min
    if (this.#sign(between)) max = this.#peek().kind === "number" ? Number(this.#next().text) : undefined
    if (close !== undefined && !this.#sign(close))
      throw larkError(this.#peek().at, `'${close}' belongs here, not ${shown(this.#peek())}`)
    if (min < 0 || (max !== undefined && max < min)) throw larkError(least.at, "the numbers are out of order")
    return { kind: "repeat", item, min, ...(max === undefined ? {} : { max }) }
  }

  #atom(): GbnfNode | undefined {
    const { kind, text, at } = this.#peek()
    if (kind === "string") return this.#spelt(this.#text())
    if (kind === "regex") return this.#spelt(this.#regex())
    if (kind === "rule" || kind === "terminal") return this.#reference()
    if (kind !== "sign") return undefined
    if (text === "(" || text === "[") {
      this.#next()
      const inner = this.#choice()
      const close = text === "(" ? ")" : "]"
      if (!this.#sign(close)) throw larkError(this.#peek().at, `'${close}' belongs here, not ${shown(this.#peek())}`)
      return text === "(" ? inner : { kind: "repeat", item: inner, min: 0, max: 1 }
    }
    if (text === "<" || text === "&" || text === "~")
      throw larkError(at, `'${text}' is not supported`, "Special tokens and sets of terminals are llguidance's own.")
    return undefined
  }

  #reference(): GbnfNode {
    const token = this.#next()
    if (this.#inTerminal && token.kind === "rule")
      throw larkError(token.at, `a terminal cannot hold the rule '${token.text}'`)
    this.#uses.push(token)
    const node: GbnfNode = { kind: "rule", name: ruleName(token.text), at: token.at }
    return token.kind === "terminal" ? this.#spelt(node) : node
  }

  /** What is ignored may stand after each terminal of a rule, and nowhere inside of one. */
  #spelt(node: GbnfNode): GbnfNode {
    return this.#inTerminal || !this.#ignores
      ? node
      : { kind: "sequence", items: [node, { kind: "rule", name: IGNORED }] }
  }

  #text(): GbnfNode {
    const token = this.#next()
    const ignoreCase = token.text.endsWith("i")
    const codes = codesOf(token, ignoreCase ? -2 : -1)
    if (this.#sign("..")) {
      const [last] = codesOf(this.#expect("string", "the last character of the range"), -1)
      const [first] = codes
      if (first === undefined || last === undefined || codes.length > 1 || last < first)
        throw larkError(token.at, 'a range goes from one character to a later one, as in "a".."z"')
      return { kind: "class", negated: false, ranges: [[first, last]] }
    }
    if (!ignoreCase) return { kind: "literal", text: codes }
    const items = codes.map((code): GbnfNode => ({
      kind: "class",
      negated: false,
      ranges: inBothCases([[code, code]], this.#room),
    }))
    return { kind: "sequence", items }
  }

  #regex(): GbnfNode {
    const { text, at } = this.#next()
    const end = text.lastIndexOf("/")
    try {
      return regexNode(text.slice(1, end).replaceAll("\\/", "/"), text.slice(end + 1), this.#room)
    } catch (thrown) {
      throw larkError(at, `${text.slice(0, 60)}: ${messageOf(thrown)}`)
    }
  }

  #endOfLine(): void {
    const token = this.#next()
    if (token.kind !== "newline" && token.kind !== "end")
      throw larkError(token.at, `${shown(token)} does not belong here`, "A rule ends with its line; '|' goes on.")
  }

  #peek(): LarkToken {
    return this.#tokens[this.#at]!
  }

  #next(): LarkToken {
    const token = this.#peek()
    if (token.kind !== "end") this.#at++
    return token
  }

  #take(kind: LarkTokenKind): LarkToken | undefined {
    return this.#peek().kind === kind ? this.#next() : undefined
  }

  #sign(text: string): boolean {
    const { kind, text: found } = this.#peek()
    if (kind !== "sign" || found !== text) return false
    this.#at++
    return true
  }

  #expect(kind: LarkTokenKind, what: string): LarkToken {
    const token = this.#take(kind)
    if (token === undefined) throw larkError(this.#peek().at, `${what} belongs here, not ${shown(this.#peek())}`)
    return token
  }
}

function shown({ kind, text }: LarkToken): string {
  if (kind === "end") return "the end of the grammar"
  return kind === "newline" ? "the end of the line" : `'${text.slice(0, 40)}'`
}

const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", b: "\b", "0": "\0" }

/** The characters of a text in quotes. */
function codesOf({ text, at }: LarkToken, end: number): number[] {
  const inner = text
    .slice(1, end)
    .replaceAll(
      /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gsu,
      (_, x: string | undefined, u: string | undefined, long: string | undefined, letter: string | undefined) => {
        const code = x ?? u ?? long
        if (code === undefined) return LETTERS[letter!] ?? letter!
        const value = Number.parseInt(code, 16)
        if (value > 0x10ffff) throw larkError(at, `there is no character \\U${code}`)
        return String.fromCodePoint(value)
      },
    )
  return Array.from(inner, (character) => character.codePointAt(0)!)
}
