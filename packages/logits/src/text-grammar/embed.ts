/** A text under a grammar as a string of a notation, within the grammar of a call. */
import type { GbnfNode } from "../gbnf/model.ts"
import { invertRanges, normaliseRanges } from "../automaton/ranges.ts"
import { schemaExpression } from "../constraint/schema-grammar.ts"
import { modelJsonNotation, type Notation, type StringStyle } from "../grammar/notation.ts"
import { choice, type CodePointRange, type Expression, literal, repeat, rule, sequence } from "../grammar/rules.ts"
import { grammarError } from "../grammar/grammar-error.ts"
import { characterWriter } from "../lowering/strings.ts"
import type { CharacterWriter } from "../lowering/languages.ts"
import { withoutLeftRecursion } from "./left-recursion.ts"
import { rulesOf, type ReadGrammar } from "./read.ts"

const ANY: readonly CodePointRange[] = [[0, 0x10ffff]]

/**
 * A text of a grammar, written as a string of a style, quotes and all. Its rules go into `rules`, under names that
 * begin with `prefix`. What stands for any run of characters keeps clear of the marks that would end the string; where
 * a grammar spells such a mark out, the string ends there when it is read, and the text is found to be cut.
 *
 * @throws ToolwrightError `GRAMMAR_REFUSED` for what cannot be embedded
 */
export function embedText(
  read: ReadGrammar,
  style: StringStyle,
  prefix: string,
  rules: Record<string, Expression>,
): Expression {
  const grammar = withoutLeftRecursion(rulesOf(read))
  const written: Record<string, Expression> = {}
  const text = (writer: CharacterWriter, name: string, stop: readonly string[] = []): Expression => {
    const embedder = new Embedder(writer, name, stop)
    for (const { name: inner, body } of grammar.rules) written[embedder.nameOf(inner)] = embedder.write(body)
    return rule(embedder.nameOf("root"))
  }
  const quoted = (kind: "json" | "python", quote: '"' | "'", name: string): Expression =>
    sequence(literal(quote), text(characterWriter(kind, quote), name), literal(quote))
  const whole = (): Expression => {
    switch (style.kind) {
      case "json":
        return quoted("json", '"', prefix)
      case "python":
        return choice(quoted("python", "'", prefix), quoted("python", '"', `${prefix}-double`))
      case "delimited":
        return sequence(literal(style.open), text(characterWriter("raw"), prefix, [style.close]), literal(style.close))
      case "bare":
        return text(characterWriter("raw"), prefix, style.stop)
    }
  }
  const expression = whole()
  Object.assign(rules, written)
  return expression
}

class Embedder {
  readonly #prefix: string
  readonly #writer: CharacterWriter
  readonly #stop: readonly string[]

  constructor(writer: CharacterWriter, prefix: string, stop: readonly string[]) {
    this.#prefix = prefix
    this.#writer = writer
    this.#stop = stop
  }

  nameOf(name: string): string {
    return `${this.#prefix}-${name}`
  }

  write(node: GbnfNode): Expression {
    switch (node.kind) {
      case "literal":
        return literal(this.#writer.text(String.fromCodePoint(...node.text)))
      case "class":
      case "any":
        return this.#writer.chars(rangesOf(node))
      case "rule":
        return rule(this.nameOf(node.name))
      case "sequence":
        return sequence(...node.items.map((item) => this.write(item)))
      case "choice":
        return choice(...node.options.map((option) => this.write(option)))
      case "repeat":
        return this.#run(node) ?? repeat(this.write(node.item), node.min, node.max)
      case "token":
        throw grammarError("A grammar that names tokens cannot hold the text of a call.", { code: "GRAMMAR_REFUSED" })
    }
  }

  /** A run of characters of one class, in which no mark stands. */
  #run({ item, min, max }: Extract<GbnfNode, { kind: "repeat" }>): Expression | undefined {
    if (this.#stop.length === 0 || (item.kind !== "class" && item.kind !== "any")) return undefined
    const ranges = rangesOf(item)
    const holds = (mark: string): boolean => Array.from(mark).every((character) => includes(ranges, character))
    if (!this.#stop.some(holds)) return undefined
    const notation: Notation = { ...modelJsonNotation, id: "text-run", string: { kind: "bare", stop: this.#stop } }
    const pattern = `^[${ranges.map(([first, last]) => `${escaped(first)}-${escaped(last)}`).join("")}]*$`
    const lengths = { minLength: min, ...(max === undefined ? {} : { maxLength: max }) }
    return schemaExpression({ type: "string", pattern, ...lengths }, { notation })
  }
}

function rangesOf(node: Extract<GbnfNode, { kind: "class" | "any" }>): readonly CodePointRange[] {
  if (node.kind === "any") return ANY
  return node.negated ? invertRanges(node.ranges) : normaliseRanges(node.ranges)
}

function includes(ranges: readonly CodePointRange[], character: string): boolean {
  const code = character.codePointAt(0)!
  return ranges.some(([first, last]) => code >= first && code <= last)
}

const escaped = (code: number): string => `\\u{${code.toString(16)}}`
