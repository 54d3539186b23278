import { formatPercent } from "./format.ts"
import { Failure } from "./errors.ts"
import type { BinaryOperator, CompareOperator } from "./nodes.ts"
import { escapeHtml, str } from "./text.ts"
import {
  Dict,
  floatOf,
  isFloat,
  Markup,
  numberIn,
  textIn,
  tryIterate,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from "./values.ts"

/** Python's arithmetic on template values. Results of repetition are not larger than `maxSize` items or characters. */
export function binary(operator: BinaryOperator, left: Value, right: Value, maxSize: number): Value {
  for (const side of [left, right]) if (side instanceof Undefined) throw new Failure(side.reason)
  const a = numberIn(left)
  const b = numberIn(right)
  if (a !== undefined && b !== undefined) return arithmetic(operator, a, b, isFloat(left) || isFloat(right))
  if (operator === "+") return add(left, right)
  if (operator === "%" && textIn(left) !== undefined) {
    return left instanceof Markup
      ? new Markup(formatPercent(left.text, escapeText(right), maxSize))
      : formatPercent(str(left), right, maxSize)
  }
  if (operator === "*") {
    const [sequence, times] = a === undefined ? [left, b] : [right, a]
    if (times !== undefined && !isFloat(a === undefined ? right : left)) return repeat(sequence, times, maxSize)
  }
  throw new Failure(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`)
}

function arithmetic(operator: BinaryOperator, a: number, b: number, float: boolean): Value {
  const result = (value: number): Value => (float ? floatOf(value) : value)
  switch (operator) {
    case "+":
      return result(a + b)
    case "-":
      return result(a - b)
    case "*":
      return result(a * b)
    case "**":
      return float || b < 0 ? floatOf(a ** b) : a ** b
  }
  if (b === 0) throw new Failure("division by zero")
  if (operator === "/") return floatOf(a / b)
  if (operator === "//") return result(Math.floor(a / b))
  const rest = a % b
  return result(rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest)
}

function add(left: Value, right: Value): Value {
  const a = textIn(left)
  const b = textIn(right)
  if (a !== undefined && b !== undefined) {
    if (left instanceof Markup || right instanceof Markup) return new Markup(markupText(left) + markupText(right))
    return a + b
  }
  if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
    const items = [...left, ...right]
    return left instanceof Tuple ? Tuple.holding(items) : items
  }
  if (a !== undefined) throw new Failure(`can only concatenate str (not "${typeName(right)}") to str`)
  if (Array.isArray(left))
    throw new Failure(`can only concatenate ${typeName(left)} (not "${typeName(right)}") to ${typeName(left)}`)
  throw new Failure(`unsupported operand type(s) for +: '${typeName(left)}' and '${typeName(right)}'`)
}

/** Escapes text, and the text in a tuple or dictionary, before it goes into marked text. */
function escapeText(value: Value): Value {
  if (typeof value === "string") return escapeHtml(value)
  if (value instanceof Tuple) return Tuple.holding(value.map(escapeText))
  return value instanceof Dict
    ? Dict.from(value.entries().map(([key, item]) => [key, escapeText(item)] as const))
    : value
}

function markupText(value: Value): string {
  return value instanceof Markup ? value.text : escapeHtml(str(value))
}

function repeat(value: Value, times: number, maxSize: number): Value {
  const text = textIn(value)
  const count = Math.max(0, times)
  const size = text?.length ?? (Array.isArray(value) ? value.length : undefined)
  if (size === undefined) throw new Failure(`can't multiply sequence by non-int of type '${typeName(value)}'`)
  if (size * count > maxSize) throw new Failure("A repeated value is too large", "TEMPLATE_LIMIT")
  if (text !== undefined) return value instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count)
  const items = Array.from({ length: count }, () => value as Value[]).flat()
  return value instanceof Tuple ? Tuple.holding(items) : items
}

/** One comparison of a chain. */
export function compare(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return equal(left, right)
    case "!=":
      return !equal(left, right)
    case "in":
      return contains(right, left)
    case "not in":
      return !contains(right, left)
  }
  const order = orderOf(operator, left, right)
  if (operator === "<") return order < 0
  if (operator === "<=") return order <= 0
  return operator === ">" ? order > 0 : order >= 0
}

export function equal(left: Value, right: Value): boolean {
  if (left === right) return true
  const a = numberIn(left)
  if (a !== undefined) return a === numberIn(right)
  const text = textIn(left)
  if (text !== undefined) return text === textIn(right)
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left instanceof Tuple === right instanceof Tuple &&
      left.length === right.length &&
      left.every((item, index) => equal(item, right[index]!))
    )
  }
  if (left instanceof Dict) {
    if (!(right instanceof Dict) || left.size !== right.size) return false
    return left.entries().every(([key, item]) => {
      const other = right.get(key)
      return other !== undefined && equal(item, other)
    })
  }
  if (left instanceof View) return right instanceof View && left.kind === right.kind && equal(left.items, right.items)
  return left instanceof Undefined && right instanceof Undefined
}

/** `item in container`. */
export function contains(container: Value, item: Value): boolean {
  const text = textIn(container)
  if (text !== undefined) {
    const part = textIn(item)
    if (part === undefined) throw new Failure(`'in <string>' requires string as left operand, not ${typeName(item)}`)
    return text.includes(part)
  }
  if (container instanceof Dict) return container.has(item)
  const items = tryIterate(container)
  if (items === undefined) throw new Failure(`argument of type '${typeName(container)}' is not iterable`)
  return items.some((each) => equal(each, item))
}

/** Negative, zero or positive; fails where Python does not order the two. */
export function orderOf(operator: string, left: Value, right: Value): number {
  for (const side of [left, right]) if (side instanceof Undefined) throw new Failure(side.reason)
  const a = numberIn(left)
  const b = numberIn(right)
  if (a !== undefined && b !== undefined) return a === b ? 0 : a - b || Number.NaN
  const x = textIn(left)
  const y = textIn(right)
  if (x !== undefined && y !== undefined) return compareText(x, y)
  if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
    for (let index = 0; index < left.length && index < right.length; index += 1) {
      if (!equal(left[index]!, right[index]!)) return orderOf(operator, left[index]!, right[index]!)
    }
    return left.length - right.length
  }
  throw new Failure(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`)
}

/** Order by code points, as Python has it; UTF-16 order differs from it beyond the basic plane. */
function compareText(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1
  if (at === a.length || at === b.length) return a.length - b.length
  const split = at > 0 && /[\ud800-\udbff]/.test(a[at - 1]!) ? at - 1 : at
  return (a.codePointAt(split) ?? 0) - (b.codePointAt(split) ?? 0)
}

/** Unary `-` and `+`. */
export function sign(operator: "-" | "+", value: Value): Value {
  if (value instanceof Undefined) throw new Failure(value.reason)
  const number = numberIn(value)
  if (number === undefined) throw new Failure(`bad operand type for unary ${operator}: '${typeName(value)}'`)
  const result = operator === "-" ? 0 - number : number
  return isFloat(value) ? floatOf(operator === "-" ? -number : number) : result
}
