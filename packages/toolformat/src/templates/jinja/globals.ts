import { pairOf } from "./collection-methods.ts"
import { Failure } from "./errors.ts"
import { str } from "./text.ts"
import { strftime } from "./strftime.ts"
import {
  Callable,
  Dict,
  iterate,
  Namespace,
  numberIn,
  textIn,
  typeName,
  View,
  type CallArguments,
  type Value,
} from "./values.ts"

/** Largest `range()`, as in Python's sandbox. */
const MAX_RANGE = 100_000

/** The functions that every template has. `now` is the clock of `strftime_now`. */
export function globalFunctions(now: () => Date): Map<string, Value> {
  const functions: [string, (args: CallArguments) => Value][] = [
    ["range", range],
    [
      "dict",
      ({ positional: [start], named }) => {
        const dict = start instanceof Dict ? Dict.from(start.entries()) : new Dict()
        if (start !== undefined && !(start instanceof Dict)) {
          for (const pair of iterate(start)) dict.set(...pairOf(pair))
        }
        for (const [key, value] of named) dict.set(key, value)
        return dict
      },
    ],
    [
      "namespace",
      ({ positional: [start], named }) => {
        const namespace = new Namespace()
        if (start instanceof Dict) for (const [key, value] of start.entries()) namespace.attributes.set(str(key), value)
        for (const [key, value] of named) namespace.attributes.set(key, value)
        return namespace
      },
    ],
    [
      "raise_exception",
      ({ positional: [message = ""] }) => {
        throw new Failure(str(message), "TEMPLATE_REFUSED")
      },
    ],
    [
      "strftime_now",
      ({ positional: [format] }) => {
        const text = format === undefined ? undefined : textIn(format)
        if (text === undefined) throw new Failure("strftime_now needs a format")
        return strftime(now(), text)
      },
    ],
  ]
  return new Map(functions.map(([name, call]) => [name, new Callable(name, call)]))
}

function range({ positional }: CallArguments): Value {
  const numbers = positional.map((value) => {
    const number = numberIn(value)
    if (number === undefined || !Number.isInteger(number)) {
      throw new Failure(`'${typeName(value)}' object cannot be interpreted as an integer`)
    }
    return number
  })
  const [first = 0, second, step = 1] = numbers
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  if (step === 0) throw new Failure("range() arg 3 must not be zero")
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (length > MAX_RANGE)
    throw new Failure(`Range too big. The sandbox blocks ranges larger than ${MAX_RANGE}.`, "TEMPLATE_LIMIT")
  return new View(
    "range",
    Array.from({ length }, (_, index) => start + index * step),
  )
}
