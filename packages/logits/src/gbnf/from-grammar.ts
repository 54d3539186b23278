import { ToolwrightError } from "@toolwright/toolbox"
import { lowerAround } from "../lowering/index.ts"
import type { CodePointRange, Grammar, PlainExpression, PlainGrammar } from "../grammar/rules.ts"
import { checkGbnfGrammar, noteChecked } from "./check.ts"
import { withoutEmptyRounds } from "./empty-rounds.ts"
import { printAround } from "./holes.ts"
import type { GbnfGrammar, GbnfNode, GbnfRule } from "./model.ts"
import { describeGbnfProblem, readGbnf } from "./parse.ts"
import { printGbnf } from "./print.ts"
import { RuleNames } from "./rule-names.ts"

/** Bounds above this are written as repetitions of repetitions; llama.cpp refuses 2,000 and takes more for no limit. */
const CHUNK = 1000
const HIGHEST = 0x10ffff
const EMPTY: GbnfNode = { kind: "literal", text: [] }

/**
 * A grammar as GBNF text for llama.cpp: the same bytes for the same grammar. Values and free texts become plain rules
 * first, which allow fewer spellings of the same values (keys in the schema's order, little white space). The start
 * rule is called `root`. Counters stay counters (`{m,n}`); bounds beyond llama.cpp's limit are nested. Character
 * classes are written positively, so that byte sequences that are no UTF-8 are out too. Triggers are no part of the
 * text; hand them to the server beside it.
 *
 * @throws ToolwrightError `GRAMMAR_REFUSED`, with the reasons, for what GBNF cannot say: the character U+0000, half a
 *   surrogate pair, a token text that is not in angle brackets, a rule that begins with itself, or a grammar that
 *   nothing matches
 */
export function grammarToGbnf(grammar: Grammar): string {
  const around = lowerAround(grammar)
  const text =
    around.holes.length > 0
      ? printAround(grammar, around, ({ plain }) => toGbnf(plain), checkText)
      : printGbnf(toGbnf(around.plain))
  if (around.holes.length === 0) checkText(text)
  noteChecked(text)
  return text
}

function checkText(text: string): void {
  const errors = readGbnf(text).problems
  if (errors.length > 0) throw refused(errors.map(describeGbnfProblem))
}

/** As {@link grammarToGbnf}, as data, from plain rules. */
function toGbnf(grammar: PlainGrammar): GbnfGrammar {
  const converter = new Converter(withoutEmptyRounds(grammar))
  const result = { rules: converter.rules() }
  const errors = checkGbnfGrammar(result).filter(({ severity }) => severity === "error")
  const reasons = [...converter.reasons, ...errors.map(({ message }) => message)]
  if (reasons.length > 0) throw refused(reasons)
  return result
}

function refused(reasons: readonly string[]): ToolwrightError {
  return new ToolwrightError("GRAMMAR_REFUSED", `GBNF cannot say this grammar: ${[...new Set(reasons)].join("; ")}.`, {
    hint: "Use the masks of the matcher instead, or change the schema.",
  })
}

/** One character of the ranges; nothing where none is left without surrogates. */
function classOf(given: readonly CodePointRange[]): GbnfNode | undefined {
  const ranges = given
    .flatMap(([first, last]): [number, number][] => [
      [first, Math.min(last, 0xd7ff)],
      [Math.max(first, 0xe000), Math.min(last, HIGHEST)],
    ])
    .filter(([first, last]) => first <= last)
  return ranges.length === 0 ? undefined : { kind: "class", negated: false, ranges }
}

/** One after the other; nothing where one of them is. */
function sequenceOf(items: readonly (GbnfNode | undefined)[]): GbnfNode | undefined {
  if (items.includes(undefined)) return undefined
  const kept = (items as GbnfNode[]).flatMap((item) =>
    item.kind === "sequence" ? item.items : isEmpty(item) ? [] : [item],
  )
  if (kept.length === 0) return EMPTY
  return kept.length === 1 ? kept[0] : { kind: "sequence", items: kept }
}

/** Any of those that are something. */
function choiceOf(items: readonly (GbnfNode | undefined)[]): GbnfNode | undefined {
  const options = items.filter((option) => option !== undefined)
  return options.length < 2 ? options[0] : { kind: "choice", options }
}

class Converter {
  readonly reasons: string[] = []
  readonly #grammar: PlainGrammar
  readonly #names: RuleNames
  readonly #inhabited: ReadonlySet<string>
  readonly #done: GbnfRule[] = []
  readonly #helpers = new Map<string, string>()
  #current = "root"

  constructor(grammar: PlainGrammar) {
    this.#grammar = grammar
    this.#names = new RuleNames(grammar.start, grammar.rules.keys())
    this.#inhabited = inhabitedRules(grammar)
  }

  rules(): GbnfRule[] {
    const { start, rules } = this.#grammar
    if (!this.#inhabited.has(start)) {
      this.reasons.push("no text matches it")
      return []
    }
    const used = this.#reachable()
    for (const name of [start, ...[...rules.keys()].filter((name) => name !== start)]) {
      const body = rules.get(name)
      if (body === undefined || !used.has(name) || !this.#inhabited.has(name)) continue
      this.#current = this.#names.of(name)
      const at = this.#done.length
      const converted = this.#convert(body) ?? EMPTY
      // Helper rules made on the way come after the rule that needs them.
      this.#done.splice(at, 0, { name: this.#current, body: converted })
    }
    return this.#done
  }

  /** The expression in GBNF; nothing if no text matches it. */
  #convert(expression: PlainExpression): GbnfNode | undefined {
    switch (expression.kind) {
      case "literal":
        return {
          kind: "literal",
          text: Array.from(expression.text, (character) => this.#sound(character.codePointAt(0)!)),
        }
      case "chars":
        return classOf(expression.ranges)
      case "token":
        return this.#token(expression)
      case "rule":
        return this.#inhabited.has(expression.name)
          ? { kind: "rule", name: this.#names.of(expression.name) }
          : undefined
      case "sequence":
        return sequenceOf(expression.parts.map((part) => this.#convert(part)))
      case "choice":
        return choiceOf(expression.options.map((option) => this.#convert(option)))
      case "repeat": {
        const item = this.#convert(expression.of)
        if (item === undefined) return expression.min === 0 ? EMPTY : undefined
        if (isEmpty(item) || expression.max === 0) return EMPTY
        return this.#repeat(item, expression.min, expression.max)
      }
    }
  }

  #repeat(item: GbnfNode, min: number, max: number | undefined): GbnfNode {
    if (min === 1 && max === 1) return item
    const counted = Math.max(min, max ?? 0) > 1
    const unit = counted || size(item) > 50 ? this.#unit(item) : item
    const rest = max === undefined ? undefined : max - min
    if (min <= CHUNK && (max === undefined || max <= CHUNK))
      return { kind: "repeat", item: unit, min, ...(max === undefined ? {} : { max }) }
    const parts = [
      this.#exactly(unit, min),
      rest === undefined ? { kind: "repeat" as const, item: unit, min: 0 } : this.#upTo(unit, rest),
    ]
    const kept = parts.filter((part) => !isEmpty(part))
    return kept.length === 1 ? kept[0]! : { kind: "sequence", items: kept }
  }

  #exactly(unit: GbnfNode, count: number): GbnfNode {
    if (count === 0) return EMPTY
    if (count <= CHUNK) return times(unit, count, count)
    const parts = [this.#exactly(this.#chunk(unit), Math.floor(count / CHUNK)), this.#exactly(unit, count % CHUNK)]
    return { kind: "sequence", items: parts.filter((part) => !isEmpty(part)) }
  }

  #upTo(unit: GbnfNode, count: number): GbnfNode {
    if (count === 0) return EMPTY
    if (count <= CHUNK) return times(unit, 0, count)
    const chunk = this.#chunk(unit)
    const whole = Math.floor(count / CHUNK)
    const rest = count % CHUNK
    const full: GbnfNode = {
      kind: "sequence",
      items: [this.#upTo(chunk, whole - 1), times(unit, 0, CHUNK)].filter((part) => !isEmpty(part)),
    }
    if (rest === 0) return full
    return {
      kind: "choice",
      options: [full, { kind: "sequence", items: [this.#exactly(chunk, whole), times(unit, 1, rest)] }],
    }
  }

  #chunk(unit: GbnfNode): GbnfNode {
    return this.#helper(times(unit, CHUNK, CHUNK))
  }

  /** What may be repeated many times: a symbol by itself, so that llama.cpp counts it as one. */
  #unit(item: GbnfNode): GbnfNode {
    return item.kind === "rule" || item.kind === "class" || item.kind === "token" || item.kind === "literal"
      ? item
      : this.#helper(item)
  }

  #helper(body: GbnfNode): GbnfNode {
    const key = JSON.stringify(body)
    let name = this.#helpers.get(key)
    if (name === undefined) {
      name = this.#names.fresh(this.#current)
      this.#helpers.set(key, name)
      this.#done.push({ name, body })
    }
    return { kind: "rule", name }
  }

  #token({ token, negated }: Extract<PlainExpression, { kind: "token" }>): GbnfNode {
    if (typeof token === "number") return { kind: "token", negated, id: token }
    if (!/^<[^>\n[][^>\n]*>$/.test(token))
      this.reasons.push(`the token ${JSON.stringify(token)} is not written in angle brackets; name it by its number`)
    return { kind: "token", negated, text: token }
  }

  #sound(code: number): number {
    if (code === 0) this.reasons.push("it holds the character U+0000")
    if (code >= 0xd800 && code <= 0xdfff) this.reasons.push("it holds half a surrogate pair")
    return code
  }

  #reachable(): Set<string> {
    const seen = new Set<string>()
    const open = [this.#grammar.start]
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const body = this.#grammar.rules.get(name)
      if (seen.has(name) || body === undefined) continue
      seen.add(name)
      for (const next of rulesIn(body)) open.push(next)
    }
    return seen
  }
}

function times(item: GbnfNode, min: number, max: number): GbnfNode {
  return min === 1 && max === 1 ? item : { kind: "repeat", item, min, max }
}

function isEmpty(node: GbnfNode): boolean {
  return node.kind === "literal" && node.text.length === 0
}

/** How many symbols a node has, about as llama.cpp counts them. */
function size(node: GbnfNode): number {
  if (node.kind === "repeat") return 1 + size(node.item) + (node.max ?? 0)
  if (node.kind === "sequence") return node.items.reduce((sum, item) => sum + size(item), 1)
  if (node.kind === "choice") return node.options.reduce((sum, option) => sum + size(option), 1)
  return 1
}

function rulesIn(expression: PlainExpression): string[] {
  if (expression.kind === "rule") return [expression.name]
  if (expression.kind === "repeat") return rulesIn(expression.of)
  if (expression.kind === "sequence") return expression.parts.flatMap(rulesIn)
  return expression.kind === "choice" ? expression.options.flatMap(rulesIn) : []
}

/** The rules that some finite text matches. */
function inhabitedRules({ rules }: PlainGrammar): Set<string> {
  const known = new Set<string>()
  const holds = (expression: PlainExpression): boolean => {
    if (expression.kind === "rule") return known.has(expression.name)
    if (expression.kind === "chars") return expression.ranges.length > 0
    if (expression.kind === "sequence") return expression.parts.every(holds)
    if (expression.kind === "choice") return expression.options.some(holds)
    return expression.kind !== "repeat" || expression.min === 0 || holds(expression.of)
  }
  for (let before = -1; before !== known.size;) {
    before = known.size
    for (const [name, body] of rules) if (!known.has(name) && holds(body)) known.add(name)
  }
  return known
}
