import { Failure } from "./errors.ts"
import { numberIn, truthy, typeName, type CallArguments, type Value } from "./values.ts"

/** What filters may use of the running interpreter. */
export interface FilterHost {
  filter(name: string, value: Value, args: CallArguments): Value
  test(name: string, value: Value, args: Value[]): boolean
  /** `value[key]` by a dotted path. */
  pick(value: Value, path: Value): Value
  /** Longest text or list that may be made. */
  readonly maxSize: number
}

export type Filter = (value: Value, args: CallArguments, host: FilterHost) => Value

/** The arguments of a filter by name, whether given by place or by name. */
export function bindArguments(
  filter: string,
  { positional, named }: CallArguments,
  names: readonly string[],
): Record<string, Value | undefined> {
  if (positional.length > names.length)
    throw new Failure(`The filter '${filter}' takes at most ${names.length} argument(s), ${positional.length} given`)
  const bound: Record<string, Value | undefined> = {}
  for (const [index, name] of names.entries()) bound[name] = positional[index]
  for (const [name, value] of named) {
    if (!names.includes(name)) throw new Failure(`The filter '${filter}' has no argument '${name}'`)
    bound[name] = value
  }
  return bound
}

export function flag(value: Value | undefined, fallback = false): boolean {
  return value === undefined ? fallback : truthy(value)
}

export function wholeNumber(value: Value | undefined, fallback: number): number {
  if (value === undefined) return fallback
  const number = numberIn(value)
  if (number === undefined) throw new Failure(`'${typeName(value)}' object cannot be interpreted as an integer`)
  return Math.trunc(number)
}
