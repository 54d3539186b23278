import { unquote } from "./lexer.ts"
import type { Arguments, BinaryOperator, CompareOperator, Expression } from "./nodes.ts"
import { describe, type TokenCursor } from "./tokens.ts"

/*
 * The expression grammar of Jinja 3.1, one function per level of precedence, from the loosest:
 * conditional, or, and, not, comparison, + -, ~, * / // %, **, unary, postfix and filters.
 */

const COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
const CONSTANTS: Record<string, null | boolean> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
}

/** @param conditional whether `a if b else c` is allowed here (not after `for … in` and in `if` tags) */
export function parseExpression(cursor: TokenCursor, conditional = true): Expression {
  if (!conditional) return parseOr(cursor)
  let node = parseOr(cursor)
  while (cursor.is("name", "if")) {
    const { at } = cursor.next()
    const test = parseOr(cursor)
    const otherwise = cursor.accept("name", "else") ? parseExpression(cursor) : undefined
    node = { type: "conditional", test, value: node, otherwise, at }
  }
  return node
}

/** One expression, or several separated by commas as a tuple. `ends` are words that end it, such as `recursive`. */
export function parseTuple(cursor: TokenCursor, conditional = true, ends: string[] = []): Expression {
  const { at } = cursor.current
  const items: Expression[] = []
  let isTuple = false
  while (!endsTuple(cursor, ends)) {
    items.push(parseExpression(cursor, conditional))
    if (!cursor.accept("operator", ",")) break
    isTuple = true
  }
  if (!isTuple && items[0] !== undefined) return items[0]
  if (items.length === 0) cursor.fail(`Expected an expression, got ${describe(cursor.current)}`)
  return { type: "tuple", items, at }
}

function endsTuple(cursor: TokenCursor, ends: string[]): boolean {
  return (
    cursor.is("block-end") ||
    cursor.is("output-end") ||
    cursor.is("operator", ")", "]") ||
    (ends.length > 0 && cursor.is("name", ...ends))
  )
}

function parseOr(cursor: TokenCursor): Expression {
  let left = parseAnd(cursor)
  while (cursor.is("name", "or")) {
    const { at } = cursor.next()
    left = { type: "logic", operator: "or", left, right: parseAnd(cursor), at }
  }
  return left
}

function parseAnd(cursor: TokenCursor): Expression {
  let left = parseNot(cursor)
  while (cursor.is("name", "and")) {
    const { at } = cursor.next()
    left = { type: "logic", operator: "and", left, right: parseNot(cursor), at }
  }
  return left
}

function parseNot(cursor: TokenCursor): Expression {
  if (!cursor.is("name", "not")) return parseComparison(cursor)
  const { at } = cursor.next()
  return { type: "unary", operator: "not", operand: parseNot(cursor), at }
}

function parseComparison(cursor: TokenCursor): Expression {
  const { at } = cursor.current
  const first = parseSum(cursor)
  const rest: { operator: CompareOperator; operand: Expression }[] = []
  for (;;) {
    let operator: CompareOperator
    if (cursor.is("operator", ...COMPARISONS)) operator = cursor.next().text as CompareOperator
    else if (cursor.accept("name", "in")) operator = "in"
    else if (cursor.is("name", "not") && cursor.following.kind === "name" && cursor.following.text === "in") {
      cursor.next()
      cursor.next()
      operator = "not in"
    } else break
    rest.push({ operator, operand: parseSum(cursor) })
  }
  return rest.length === 0 ? first : { type: "compare", first, rest, at }
}

function parseSum(cursor: TokenCursor): Expression {
  return parseBinary(cursor, ["+", "-"], parseConcat)
}

function parseConcat(cursor: TokenCursor): Expression {
  const { at } = cursor.current
  const parts = [parseProduct(cursor)]
  while (cursor.accept("operator", "~")) parts.push(parseProduct(cursor))
  return parts.length === 1 ? parts[0]! : { type: "concat", parts, at }
}

function parseProduct(cursor: TokenCursor): Expression {
  return parseBinary(cursor, ["*", "/", "//", "%"], (inner) => parseBinary(inner, ["**"], parseUnary))
}

function parseBinary(
  cursor: TokenCursor,
  operators: string[],
  operand: (cursor: TokenCursor) => Expression,
): Expression {
  let left = operand(cursor)
  while (cursor.is("operator", ...operators)) {
    const { at, text } = cursor.next()
    left = { type: "binary", operator: text as BinaryOperator, left, right: operand(cursor), at }
  }
  return left
}

function parseUnary(cursor: TokenCursor, filters = true): Expression {
  const { at, text } = cursor.current
  let node: Expression
  if (cursor.is("operator", "-", "+")) {
    cursor.next()
    node = { type: "unary", operator: text as "-" | "+", operand: parseUnary(cursor, false), at }
  } else node = parsePrimary(cursor)
  node = parsePostfix(cursor, node)
  return filters ? parseFilters(cursor, node) : node
}

function parsePrimary(cursor: TokenCursor): Expression {
  const token = cursor.next()
  const { at, text } = token
  if (token.kind === "name") {
    return Object.hasOwn(CONSTANTS, text)
      ? { type: "constant", value: CONSTANTS[text]!, at }
      : { type: "name", name: text, at }
  }
  if (token.kind === "string") {
    let value = unquote(text)
    while (cursor.is("string")) value += unquote(cursor.next().text)
    return { type: "constant", value, at }
  }
  if (token.kind === "integer") return { type: "constant", value: Number(text.replaceAll("_", "")), at }
  if (token.kind === "float") return { type: "float", value: Number(text.replaceAll("_", "")), at }
  if (token.kind === "operator" && text === "(") {
    if (cursor.accept("operator", ")")) return { type: "tuple", items: [], at }
    const inner = parseTuple(cursor)
    cursor.expect("operator", ")")
    return inner
  }
  if (token.kind === "operator" && text === "[") {
    return { type: "list", items: parseSequence(cursor, "]", () => parseExpression(cursor)), at }
  }
  if (token.kind === "operator" && text === "{") {
    const entries = parseSequence(cursor, "}", (): [Expression, Expression] => {
      const key = parseExpression(cursor)
      cursor.expect("operator", ":")
      return [key, parseExpression(cursor)]
    })
    return { type: "dict", entries, at }
  }
  return cursor.fail(`Unexpected ${describe(token)}`, at)
}

function parseSequence<Item>(cursor: TokenCursor, closer: string, item: () => Item): Item[] {
  const items: Item[] = []
  while (!cursor.accept("operator", closer)) {
    if (items.length > 0) {
      cursor.expect("operator", ",")
      if (cursor.accept("operator", closer)) break
    }
    items.push(item())
  }
  return items
}

/** `.name`, `.0`, `[key]`, `[a:b:c]` and calls. */
export function parsePostfix(cursor: TokenCursor, start: Expression): Expression {
  let node = start
  for (;;) {
    const { at } = cursor.current
    if (cursor.accept("operator", ".")) {
      const token = cursor.next()
      if (token.kind === "name") node = { type: "attribute", target: node, name: token.text, at: token.at }
      else if (token.kind === "integer")
        node = { type: "item", target: node, key: { type: "constant", value: Number(token.text), at }, at }
      else cursor.fail(`Expected a name or number after '.', got ${describe(token)}`, token.at)
    } else if (cursor.accept("operator", "[")) node = parseSubscript(cursor, node, at)
    else if (cursor.is("operator", "(")) node = { type: "call", target: node, args: parseArguments(cursor), at }
    else return node
  }
}

function parseSubscript(cursor: TokenCursor, target: Expression, at: number): Expression {
  const bounds: [Expression | undefined, Expression | undefined, Expression | undefined] = [
    undefined,
    undefined,
    undefined,
  ]
  let part = 0
  while (!cursor.accept("operator", "]")) {
    if (cursor.is("operator", ":") && part < 2) {
      cursor.next()
      part += 1
    } else if (bounds[part] === undefined) bounds[part] = part === 0 ? parseTuple(cursor) : parseExpression(cursor)
    else cursor.fail(`Expected ']', got ${describe(cursor.current)}`)
  }
  if (part > 0) return { type: "slice", target, bounds, at }
  return { type: "item", target, key: bounds[0] ?? cursor.fail("Expected a subscript", at), at }
}

/** `(a, b, name=c, *list, **dict)`, from the opening parenthesis on. */
export function parseArguments(cursor: TokenCursor): Arguments {
  cursor.expect("operator", "(")
  const args: Arguments = { positional: [], named: [] }
  parseSequence(cursor, ")", () => {
    if (cursor.accept("operator", "*")) args.spread = parseExpression(cursor)
    else if (cursor.accept("operator", "**")) args.spreadNamed = parseExpression(cursor)
    else if (cursor.is("name") && cursor.following.kind === "operator" && cursor.following.text === "=") {
      const name = cursor.next().text
      cursor.next()
      args.named.push([name, parseExpression(cursor)])
    } else if (args.named.length > 0) cursor.fail("A positional argument cannot follow a named one")
    else args.positional.push(parseExpression(cursor))
  })
  return args
}

function parseFilters(cursor: TokenCursor, start: Expression): Expression {
  let node = start
  for (;;) {
    const { at } = cursor.current
    if (cursor.accept("operator", "|")) {
      const name = parseDotted(cursor)
      node = { type: "filter", target: node, name, args: optionalArguments(cursor), at }
    } else if (cursor.is("name", "is")) node = parseTest(cursor, node)
    else if (cursor.is("operator", "(")) node = { type: "call", target: node, args: parseArguments(cursor), at }
    else return node
  }
}

export function parseDotted(cursor: TokenCursor): string {
  let name = cursor.expect("name").text
  while (cursor.accept("operator", ".")) name += `.${cursor.expect("name").text}`
  return name
}

export function optionalArguments(cursor: TokenCursor): Arguments {
  return cursor.is("operator", "(") ? parseArguments(cursor) : { positional: [], named: [] }
}

function parseTest(cursor: TokenCursor, target: Expression): Expression {
  const { at } = cursor.next()
  const negated = cursor.accept("name", "not")
  const name = parseDotted(cursor)
  let args: Arguments = { positional: [], named: [] }
  if (cursor.is("operator", "(")) args = parseArguments(cursor)
  else if (startsTestArgument(cursor)) args.positional.push(parsePostfix(cursor, parsePrimary(cursor)))
  const node: Expression = { type: "test", target, name, args, at }
  return negated ? { type: "unary", operator: "not", operand: node, at } : node
}

/** Tests take one argument without parentheses: `x is divisibleby 3`. */
function startsTestArgument(cursor: TokenCursor): boolean {
  const { kind, text } = cursor.current
  if (kind === "name") return !["else", "or", "and", "if", "is", "not", "in"].includes(text)
  return (
    kind === "string" ||
    kind === "integer" ||
    kind === "float" ||
    (kind === "operator" && (text === "[" || text === "{"))
  )
}
