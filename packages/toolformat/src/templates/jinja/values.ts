import { Failure } from "./errors.ts"

/*
 * Python's values, as far as templates can tell them apart. Strings, booleans, `null` and whole or broken numbers are
 * JavaScript's own; a list is an array. The classes below are what JavaScript has no own form of. No value exposes a
 * property of its JavaScript object to a template: attributes are looked up in tables.
 */

export type Value =
  | null
  | boolean
  | number
  | string
  | Value[]
  | Float
  | Markup
  | Dict
  | Namespace
  | Undefined
  | View
  | Stream
  | Callable
  | Loop

/** A float that is a whole number; other floats are plain numbers. Makes `4 / 2` print as `2.0`. */
export class Float {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/** Text that is marked as safe; adding to it escapes what is added. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export class Tuple extends Array<Value> {
  static holding(items: readonly Value[]): Tuple {
    const tuple = new Tuple()
    for (const item of items) tuple.push(item)
    return tuple
  }
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

/** What a missing name or attribute is; `reason` is said when it is used. */
export class Undefined {
  readonly reason: string
  /** Whether also printing it, asking whether it is true and looping over it are refused, and not taken for nothing. */
  readonly strict: boolean
  constructor(reason: string, strict = false) {
    this.reason = reason
    this.strict = strict
  }

  /** Nothing, where that is allowed. @throws Failure */
  allowNothing(): void {
    if (this.strict) throw new Failure(this.reason)
  }
}

/** `dict_items`, `dict_keys`, `dict_values` or `range`: iterable, sized, not a list. */
export class View {
  readonly kind: "dict_items" | "dict_keys" | "dict_values" | "range"
  readonly items: Value[]
  constructor(kind: View["kind"], items: Value[]) {
    this.kind = kind
    this.items = items
  }
}

/** A generator: it has no length and can be run through once. */
export class Stream {
  #rest: Value[]
  constructor(items: Value[]) {
    this.#rest = items
  }
  take(): Value[] {
    const taken = this.#rest
    this.#rest = []
    return taken
  }
  takeOne(): Value | undefined {
    const [first, ...rest] = this.#rest
    this.#rest = rest
    return first
  }
}

/** Arguments of a call inside a template. */
export interface CallArguments {
  positional: Value[]
  named: Map<string, Value>
}

/** A macro, a method bound to its value, or a function of the environment. */
export class Callable {
  readonly name: string
  readonly call: (args: CallArguments) => Value
  constructor(name: string, call: (args: CallArguments) => Value) {
    this.name = name
    this.call = call
  }
}

/** Attributes that templates may set: `namespace()`. */
export class Namespace {
  readonly attributes = new Map<string, Value>()
}

/** The `loop` of a running `for`. */
export class Loop {
  readonly items: Value[]
  readonly depth: number
  readonly recurse: Callable | undefined
  index0 = -1
  seen: Value | undefined
  constructor(items: Value[], depth: number, recurse: Callable | undefined) {
    this.items = items
    this.depth = depth
    this.recurse = recurse
  }
}

/** A dictionary: insertion order, keys of any hashable value, `1`, `1.0` and `True` being the same key. */
export class Dict {
  readonly #entries = new Map<unknown, [Value, Value]>()

  static from(entries: Iterable<readonly [Value, Value]>): Dict {
    const dict = new Dict()
    for (const [key, value] of entries) dict.set(key, value)
    return dict
  }
  get size(): number {
    return this.#entries.size
  }
  get(key: Value): Value | undefined {
    return this.#entries.get(hashOf(key))?.[1]
  }
  has(key: Value): boolean {
    return this.#entries.has(hashOf(key))
  }
  set(key: Value, value: Value): void {
    const hash = hashOf(key)
    const known = this.#entries.get(hash)
    if (known === undefined) this.#entries.set(hash, [key, value])
    else known[1] = value
  }
  delete(key: Value): void {
    this.#entries.delete(hashOf(key))
  }
  clear(): void {
    this.#entries.clear()
  }
  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }
  values(): Value[] {
    return Array.from(this.#entries.values(), ([, value]) => value)
  }
  entries(): [Value, Value][] {
    return Array.from(this.#entries.values(), ([key, value]) => [key, value])
  }
}

function hashOf(key: Value): unknown {
  if (typeof key === "string") return `s${key}`
  if (typeof key === "boolean") return Number(key)
  if (key === null || typeof key === "number") return key
  if (key instanceof Float) return key.value
  if (key instanceof Markup) return `s${key.text}`
  if (key instanceof Tuple) return `t${JSON.stringify(key.map((item) => String(hashOf(item))))}`
  if (Array.isArray(key) || key instanceof Dict) throw new Failure(`unhashable type: '${typeName(key)}'`)
  return key
}

/** The value, or the other where there is none; `null` is a value (`None`), which `??` would pass over. */
export function valueOr(value: Value | undefined, other: () => Value): Value {
  return value === undefined ? other() : value
}

/** Python's name of the value's type. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType"
  if (typeof value === "boolean") return "bool"
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float"
  if (typeof value === "string") return "str"
  if (Array.isArray(value)) return value instanceof Tuple ? "tuple" : "list"
  if (value instanceof Float) return "float"
  if (value instanceof Dict) return "dict"
  if (value instanceof View) return value.kind
  if (value instanceof Stream) return "generator"
  if (value instanceof Loop) return "LoopContext"
  if (value instanceof Callable) return "function"
  return value.constructor.name
}

/** A float of this value, whole or not. */
export function floatOf(value: number): Value {
  return Number.isInteger(value) ? new Float(value) : value
}

/** The number in an int, bool or float; undefined for anything else. */
export function numberIn(value: Value): number | undefined {
  if (typeof value === "number") return value
  if (typeof value === "boolean") return Number(value)
  return value instanceof Float ? value.value : undefined
}

export function isFloat(value: Value): boolean {
  return value instanceof Float || (typeof value === "number" && !Number.isInteger(value))
}

/** The characters in a string or markup; undefined for anything else. */
export function textIn(value: Value): string | undefined {
  if (typeof value === "string") return value
  return value instanceof Markup ? value.text : undefined
}

export function truthy(value: Value): boolean {
  if (value === null) return false
  if (value instanceof Undefined) {
    value.allowNothing()
    return false
  }
  if (typeof value === "string" || Array.isArray(value)) return value.length > 0
  const number = numberIn(value)
  if (number !== undefined) return number !== 0
  if (value instanceof Markup) return value.text !== ""
  if (value instanceof Dict) return value.size > 0
  if (value instanceof View) return value.items.length > 0
  return true
}

const SURROGATE = /[\ud800-\udfff]/

/** The characters of a string as Python counts them: code points. */
export function charactersOf(text: string): string[] {
  return SURROGATE.test(text) ? Array.from(text) : text.split("")
}

/** `len()`; undefined where Python has none. */
export function lengthOf(value: Value): number | undefined {
  const text = textIn(value)
  if (text !== undefined) return SURROGATE.test(text) ? charactersOf(text).length : text.length
  if (Array.isArray(value)) return value.length
  if (value instanceof Dict) return value.size
  if (value instanceof View || value instanceof Loop) return value.items.length
  return value instanceof Undefined ? 0 : undefined
}

/** The values that iteration gives; undefined where Python cannot iterate. A generator is used up. */
export function tryIterate(value: Value): Value[] | undefined {
  if (Array.isArray(value)) return value
  const text = textIn(value)
  if (text !== undefined) return charactersOf(text)
  if (value instanceof Dict) return value.keys()
  if (value instanceof View) return value.items
  if (value instanceof Stream) return value.take()
  if (!(value instanceof Undefined)) return undefined
  value.allowNothing()
  return []
}

export function iterate(value: Value): Value[] {
  const items = tryIterate(value)
  if (items === undefined) throw new Failure(`'${typeName(value)}' object is not iterable`)
  return items
}
