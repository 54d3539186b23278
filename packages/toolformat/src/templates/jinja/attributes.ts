import { COLLECTION_METHODS } from "./collection-methods.ts"
import { Failure } from "./errors.ts"
import type { Reach } from "./format.ts"
import { repr } from "./text.ts"
import { stringMethod } from "./string-methods.ts"
import {
  Callable,
  charactersOf,
  Dict,
  Float,
  Loop,
  Markup,
  Namespace,
  numberIn,
  textIn,
  Tuple,
  typeName,
  Undefined,
  valueOr,
  View,
  type Value,
} from "./values.ts"

/** `value.name`: an attribute or method first, then a key, as Jinja looks it up; otherwise undefined. */
export function getAttribute(value: Value, name: string): Value {
  const found = attributeOf(value, name)
  if (found !== undefined) return found
  const item = value instanceof Dict ? value.get(name) : undefined
  return valueOr(item, () => missing(value, name))
}

/** `value[key]`: a key or index first, then an attribute. */
export function getItem(value: Value, key: Value): Value {
  if (value instanceof Undefined) throw new Failure(value.reason)
  const found = itemOf(value, key)
  if (found !== undefined) return found
  const name = textIn(key)
  return valueOr(name === undefined ? undefined : attributeOf(value, name), () => missing(value, key))
}

/** An attribute alone, as the `attr` filter gives it. */
export function attributeOf(value: Value, name: string): Value | undefined {
  if (value instanceof Undefined) throw new Failure(value.reason)
  if (value instanceof Namespace) return value.attributes.get(name)
  if (value instanceof Loop) return loopAttribute(value, name)
  const text = textIn(value)
  if (text !== undefined) return stringMethod(value as string | Markup, name, reach)
  const methods = COLLECTION_METHODS[kindOf(value)]
  const method = methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined
  return method === undefined ? undefined : new Callable(name, (args) => method(value as never, args))
}

const reach: Reach = (value, step) => ("item" in step ? getItem(value, step.item) : getAttribute(value, step.attribute))

function kindOf(value: Value): string {
  if (value instanceof Dict) return "dict"
  if (value instanceof Tuple) return "tuple"
  return Array.isArray(value) ? "list" : ""
}

function itemOf(value: Value, key: Value): Value | undefined {
  if (value instanceof Dict) return isHashable(key) ? value.get(key) : undefined
  const index = key instanceof Float ? undefined : numberIn(key)
  if (index === undefined || !Number.isInteger(index)) return undefined
  const items = sequenceOf(value)
  return items?.[index < 0 ? items.length + index : index]
}

function isHashable(key: Value): boolean {
  return !(key instanceof Dict) && (!Array.isArray(key) || key instanceof Tuple)
}

function sequenceOf(value: Value): Value[] | undefined {
  if (Array.isArray(value)) return value
  if (value instanceof View) return value.kind === "range" ? value.items : undefined
  const text = textIn(value)
  return text === undefined ? undefined : charactersOf(text)
}

/** `value[start:stop:step]`. */
export function slice(value: Value, start: Value, stop: Value, step: Value): Value {
  if (value instanceof Undefined) throw new Failure(value.reason)
  const items = sequenceOf(value)
  if (items === undefined) return missing(value, "slice")
  const stride = bound(step) ?? 1
  if (stride === 0) throw new Failure("slice step cannot be zero")
  const picked = pickRange(items, bound(start), bound(stop), stride)
  if (value instanceof Tuple) return Tuple.holding(picked)
  if (Array.isArray(value)) return picked
  if (value instanceof View) return new View("range", picked)
  return value instanceof Markup ? new Markup(picked.join("")) : picked.join("")
}

/** The items of a range as Python counts it: negative bounds from the end, absent ones at the ends. */
function pickRange(items: Value[], start: number | undefined, stop: number | undefined, stride: number): Value[] {
  const { length } = items
  const [low, high] = stride > 0 ? [0, length] : [-1, length - 1]
  const clamp = (index: number | undefined, absent: number): number =>
    index === undefined ? absent : Math.max(low, Math.min(high, index < 0 ? index + length : index))
  const [first, last] = stride > 0 ? [clamp(start, low), clamp(stop, high)] : [clamp(start, high), clamp(stop, low)]
  const picked: Value[] = []
  for (let at = first; stride > 0 ? at < last : at > last; at += stride) picked.push(items[at]!)
  return picked
}

function bound(value: Value): number | undefined {
  if (value === null) return undefined
  const number = value instanceof Float ? undefined : numberIn(value)
  if (number === undefined || !Number.isInteger(number)) {
    throw new Failure("slice indices must be integers or None or have an __index__ method")
  }
  return number
}

function missing(value: Value, key: Value): Undefined {
  const owner = value === null ? "None" : `${typeName(value)} object`
  const name = textIn(key)
  return new Undefined(
    name === undefined ? `${owner} has no element ${repr(key)}` : `'${owner}' has no attribute ${repr(name)}`,
  )
}

function loopAttribute(loop: Loop, name: string): Value | undefined {
  const { items, index0, depth } = loop
  switch (name) {
    case "index":
      return index0 + 1
    case "index0":
      return index0
    case "revindex":
      return items.length - index0
    case "revindex0":
      return items.length - index0 - 1
    case "first":
      return index0 === 0
    case "last":
      return index0 === items.length - 1
    case "length":
      return items.length
    case "depth":
      return depth
    case "depth0":
      return depth - 1
    case "previtem":
      return valueOr(items[index0 - 1], () => new Undefined("there is no previous item"))
    case "nextitem":
      return valueOr(items[index0 + 1], () => new Undefined("there is no next item"))
    case "cycle":
      return new Callable("cycle", ({ positional }) => {
        if (positional.length === 0) throw new Failure("no items for cycling given")
        return positional[index0 % positional.length]!
      })
    case "changed":
      return new Callable("changed", ({ positional }) => {
        const now = repr(Tuple.holding(positional))
        const changed = loop.seen !== now
        loop.seen = now
        return changed
      })
    default:
      return undefined
  }
}
