import { Failure } from "./errors.ts"
import type { CompareOperator } from "./nodes.ts"
import { compare, contains } from "./operators.ts"
import {
  Callable,
  Dict,
  Float,
  lengthOf,
  Markup,
  numberIn,
  Stream,
  textIn,
  tryIterate,
  typeName,
  Undefined,
  View,
  type Value,
} from "./values.ts"

type Test = (value: Value, args: Value[]) => boolean

const comparison =
  (operator: CompareOperator): Test =>
  (value, [other = null]) =>
    compare(operator, value, other)

const integer = (value: Value): number => {
  const number = numberIn(value)
  if (number === undefined) throw new Failure(`unsupported operand type(s) for %: '${typeName(value)}' and 'int'`)
  return number
}

/** Jinja's tests, by name. */
export const TESTS: Record<string, Test> = {
  defined: (value) => !(value instanceof Undefined),
  undefined: (value) => value instanceof Undefined,
  none: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  true: (value) => value === true,
  false: (value) => value === false,
  string: (value) => textIn(value) !== undefined,
  number: (value) => numberIn(value) !== undefined,
  integer: (value) => typeof value === "number" && Number.isInteger(value),
  float: (value) => value instanceof Float || (typeof value === "number" && !Number.isInteger(value)),
  mapping: (value) => value instanceof Dict,
  sequence: (value) => lengthOf(value) !== undefined && (!(value instanceof View) || value.kind === "range"),
  // A generator must not be used up by asking.
  iterable: (value) => value instanceof Stream || tryIterate(value) !== undefined,
  callable: (value) => value instanceof Callable,
  sameas: (value, [other = null]) => value === other,
  escaped: (value) => value instanceof Markup,
  lower: (value) => textIn(value) !== undefined && isCased(textIn(value)!, (text) => text.toLowerCase()),
  upper: (value) => textIn(value) !== undefined && isCased(textIn(value)!, (text) => text.toUpperCase()),
  odd: (value) => Math.abs(integer(value) % 2) === 1,
  even: (value) => integer(value) % 2 === 0,
  divisibleby: (value, [by = 1]) => integer(value) % integer(by) === 0,
  in: (value, [container = null]) => contains(container, value),
  "==": comparison("=="),
  eq: comparison("=="),
  equalto: comparison("=="),
  "!=": comparison("!="),
  ne: comparison("!="),
  "<": comparison("<"),
  lt: comparison("<"),
  lessthan: comparison("<"),
  "<=": comparison("<="),
  le: comparison("<="),
  ">": comparison(">"),
  gt: comparison(">"),
  greaterthan: comparison(">"),
  ">=": comparison(">="),
  ge: comparison(">="),
}

function isCased(text: string, convert: (text: string) => string): boolean {
  return text === convert(text) && text.toLowerCase() !== text.toUpperCase()
}
