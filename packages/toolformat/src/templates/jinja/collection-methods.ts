import { Failure } from "./errors.ts"
import { equal, orderOf } from "./operators.ts"
import { repr } from "./text.ts"
import { Dict, iterate, numberIn, truthy, Tuple, valueOr, View, type CallArguments, type Value } from "./values.ts"

type Method<Owner> = (owner: Owner, args: CallArguments) => Value

/*
 * Methods of lists, tuples and dictionaries. Unlike Python's immutable sandbox, those that change their value are
 * allowed:
 * templates work on copies of the caller's data, and some models' own templates append to their lists.
 */

const sequence: Record<string, Method<Value[]>> = {
  index: (list, { positional: [item = null] }) => {
    const at = list.findIndex((each) => equal(each, item))
    if (at < 0) throw new Failure(`${repr(item)} is not in list`)
    return at
  },
  count: (list, { positional: [item = null] }) => list.filter((each) => equal(each, item)).length,
}

const list: Record<string, Method<Value[]>> = {
  ...sequence,
  copy: (items) => [...items],
  append: (items, { positional }) => {
    items.push(needed(positional, "append"))
    return null
  },
  extend: (items, { positional }) => {
    // A list may be extended by itself.
    const added = iterate(needed(positional, "extend")).slice()
    for (const item of added) items.push(item)
    return null
  },
  insert: (items, { positional: [at = 0, item = null] }) => {
    items.splice(numberIn(at) ?? 0, 0, item)
    return null
  },
  pop: (items, { positional: [at = -1] }) => {
    const index = numberIn(at) ?? -1
    const [removed] = items.splice(index < 0 ? items.length + index : index, 1)
    if (removed === undefined) throw new Failure("pop index out of range")
    return removed
  },
  remove: (items, { positional: [item = null] }) => {
    const at = items.findIndex((each) => equal(each, item))
    if (at < 0) throw new Failure("list.remove(x): x not in list")
    items.splice(at, 1)
    return null
  },
  clear: (items) => {
    items.length = 0
    return null
  },
  reverse: (items) => {
    items.reverse()
    return null
  },
  sort: (items, { named }) => {
    items.sort((a, b) => orderOf("<", a, b))
    if (truthy(named.get("reverse") ?? false)) items.reverse()
    return null
  },
}

const dict: Record<string, Method<Dict>> = {
  get: (owner, { positional: [key = null, fallback = null] }) => valueOr(owner.get(key), () => fallback),
  items: (owner) =>
    new View(
      "dict_items",
      owner.entries().map((entry) => Tuple.holding(entry)),
    ),
  keys: (owner) => new View("dict_keys", owner.keys()),
  values: (owner) => new View("dict_values", owner.values()),
  copy: (owner) => Dict.from(owner.entries()),
  pop: (owner, { positional: [key = null, fallback] }) => {
    const removed = owner.has(key) ? owner.get(key) : fallback
    if (removed === undefined) throw new Failure(`KeyError: ${repr(key)}`)
    owner.delete(key)
    return removed
  },
  setdefault: (owner, { positional: [key = null, fallback = null] }) => {
    if (!owner.has(key)) owner.set(key, fallback)
    return owner.get(key)!
  },
  update: (owner, { positional: [other], named }) => {
    if (other instanceof Dict) for (const [key, value] of other.entries()) owner.set(key, value)
    else if (other !== undefined) for (const pair of iterate(other)) owner.set(...pairOf(pair))
    for (const [key, value] of named) owner.set(key, value)
    return null
  },
  clear: (owner) => {
    owner.clear()
    return null
  },
}

/** A key and its value from a sequence of two. */
export function pairOf(pair: Value): [Value, Value] {
  const [key, value, ...rest] = iterate(pair)
  if (key === undefined || value === undefined || rest.length > 0)
    throw new Failure("dictionary update sequence element must have length 2")
  return [key, value]
}

function needed(positional: Value[], method: string): Value {
  const [value] = positional
  if (value === undefined) throw new Failure(`${method}() takes exactly one argument (0 given)`)
  return value
}

export const COLLECTION_METHODS: Record<string, Record<string, Method<never>>> = { list, tuple: sequence, dict }
