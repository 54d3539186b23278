import { attributeOf } from "./attributes.ts"
import { Failure } from "./errors.ts"
import { bindArguments, flag, wholeNumber, type Filter, type FilterHost } from "./filter-arguments.ts"
import { binary, equal, orderOf } from "./operators.ts"
import { parseFloatText } from "./text-filters.ts"
import { fixed, repr, str, strip } from "./text.ts"
import {
  charactersOf,
  Dict,
  floatOf,
  isFloat,
  iterate,
  lengthOf,
  numberIn,
  Stream,
  textIn,
  truthy,
  Tuple,
  typeName,
  Undefined,
  valueOr,
  type CallArguments,
  type Value,
} from "./values.ts"

const fallback: Filter = (value, args) => {
  const { default_value: other = "", boolean } = bindArguments("default", args, ["default_value", "boolean"])
  return value instanceof Undefined || (flag(boolean) && !truthy(value)) ? other : value
}

const length: Filter = (value) => {
  const size = lengthOf(value)
  if (size === undefined) throw new Failure(`object of type '${typeName(value)}' has no len()`)
  return size
}

/** Text compares without case unless asked otherwise. */
const folded = (value: Value, caseSensitive: boolean): Value => {
  const text = textIn(value)
  return text === undefined || caseSensitive ? value : text.toLowerCase()
}

function keyOf(host: FilterHost, attribute: Value | undefined, caseSensitive: boolean): (item: Value) => Value {
  return (item) =>
    folded(attribute === undefined || attribute === null ? item : host.pick(item, attribute), caseSensitive)
}

function sorted(items: readonly Value[], key: (item: Value) => Value, reverse: boolean): Value[] {
  const keyed = items.map((item) => ({ item, key: key(item) }))
  const direction = reverse ? -1 : 1
  return keyed.sort((a, b) => direction * orderOf("<", a.key, b.key)).map(({ item }) => item)
}

const extreme =
  (name: "min" | "max", direction: 1 | -1): Filter =>
  (value, args, host) => {
    const { case_sensitive, attribute } = bindArguments(name, args, ["case_sensitive", "attribute"])
    const key = keyOf(host, attribute, flag(case_sensitive))
    const [first, ...rest] = iterate(value)
    if (first === undefined) return new Undefined("No aggregated item, sequence was empty.")
    return rest.reduce((best, item) => (direction * orderOf("<", key(item), key(best)) < 0 ? item : best), first)
  }

/** `select`, `reject`, `selectattr` and `rejectattr`. */
const selection =
  (wanted: boolean, byAttribute: boolean): Filter =>
  (value, { positional }, host) => {
    const rest = [...positional]
    const path = byAttribute ? rest.shift() : undefined
    if (byAttribute && path === undefined) throw new Failure("Missing parameter for attribute name")
    const test = rest.shift()
    if (!truthy(value)) return new Stream([])
    return new Stream(
      iterate(value).filter((item) => {
        const subject = path === undefined ? item : host.pick(item, path)
        return (test === undefined ? truthy(subject) : host.test(str(test), subject, rest)) === wanted
      }),
    )
  }

const map: Filter = (value, { positional, named }, host) => {
  if (!truthy(value)) return new Stream([])
  const attribute = named.get("attribute")
  if (positional.length === 0 && attribute !== undefined) {
    const other = named.get("default")
    return new Stream(
      iterate(value).map((item) => {
        const found = host.pick(item, attribute)
        return found instanceof Undefined && other !== undefined ? other : found
      }),
    )
  }
  const [name, ...rest] = positional
  if (name === undefined) throw new Failure("map requires a filter argument")
  return new Stream(iterate(value).map((item) => host.filter(str(name), item, { positional: rest, named })))
}

/** Filters that choose, order and count. */
export const VALUE_FILTERS: Record<string, Filter> = {
  default: fallback,
  d: fallback,
  length,
  count: length,
  first: (value) =>
    valueOr(
      value instanceof Stream ? value.takeOne() : iterate(value)[0],
      () => new Undefined("No first item, sequence was empty."),
    ),
  last: (value) => {
    if (value instanceof Stream) throw new Failure("'generator' object is not reversible")
    return valueOr(iterate(value).at(-1), () => new Undefined("No last item, sequence was empty."))
  },
  list: (value) => [...iterate(value)],
  items: (value) => {
    if (value instanceof Undefined) return new Stream([])
    if (!(value instanceof Dict)) throw new Failure("Can only get item pairs from a mapping.")
    return new Stream(value.entries().map((entry) => Tuple.holding(entry)))
  },
  join: (value, args, host) => {
    const { d = "", attribute } = bindArguments("join", args, ["d", "attribute"])
    return iterate(value)
      .map((item) => str(attribute === undefined || attribute === null ? item : host.pick(item, attribute)))
      .join(str(d))
  },
  reverse: (value) => {
    const text = textIn(value)
    return text === undefined ? new Stream([...iterate(value)].reverse()) : charactersOf(text).reverse().join("")
  },
  sort: (value, args, host) => {
    const { reverse, case_sensitive, attribute } = bindArguments("sort", args, [
      "reverse",
      "case_sensitive",
      "attribute",
    ])
    const paths = typeof attribute === "string" ? attribute.split(",") : undefined
    const sensitive = flag(case_sensitive)
    const key =
      paths === undefined
        ? keyOf(host, attribute, sensitive)
        : (item: Value) => paths.map((path) => folded(host.pick(item, path), sensitive))
    return sorted(iterate(value), key, flag(reverse))
  },
  dictsort: (value, args) => {
    const { case_sensitive, by = "key", reverse } = bindArguments("dictsort", args, ["case_sensitive", "by", "reverse"])
    if (!(value instanceof Dict)) throw new Failure(`'${typeName(value)} object' has no attribute 'items'`)
    const position = str(by) === "value" ? 1 : 0
    const pairs = value.entries().map((entry) => Tuple.holding(entry))
    return sorted(pairs, (pair) => folded((pair as Tuple)[position]!, flag(case_sensitive)), flag(reverse))
  },
  unique: (value, args, host) => {
    const { case_sensitive, attribute } = bindArguments("unique", args, ["case_sensitive", "attribute"])
    const key = keyOf(host, attribute, flag(case_sensitive))
    const seen = new Dict()
    return new Stream(
      iterate(value).filter((item) => {
        const known = seen.has(key(item))
        seen.set(key(item), true)
        return !known
      }),
    )
  },
  groupby: (value, args, host) => {
    const {
      attribute = "",
      default: other,
      case_sensitive,
    } = bindArguments("groupby", args, ["attribute", "default", "case_sensitive"])
    const plain = (item: Value): Value => {
      const found = host.pick(item, attribute)
      return found instanceof Undefined && other !== undefined ? other : found
    }
    const key = (item: Value): Value => folded(plain(item), flag(case_sensitive))
    const groups: Tuple[] = []
    let last: Value | undefined
    for (const item of sorted(iterate(value), key, false)) {
      if (last === undefined || !equal(key(item), last)) groups.push(Tuple.holding([plain(item), []]))
      last = key(item)
      ;(groups.at(-1)![1] as Value[]).push(item)
    }
    return groups
  },
  batch: (value, args, host) => {
    const { linecount, fill_with: fill } = bindArguments("batch", args, ["linecount", "fill_with"])
    const size = Math.max(1, wholeNumber(linecount, 1))
    if (size > host.maxSize) throw new Failure("A batch is too large", "TEMPLATE_LIMIT")
    const items = iterate(value)
    const rows: Value[][] = []
    for (let at = 0; at < items.length; at += size) rows.push(items.slice(at, at + size))
    const last = rows.at(-1)
    if (last !== undefined && fill !== undefined && fill !== null) while (last.length < size) last.push(fill)
    return new Stream(rows)
  },
  map,
  select: selection(true, false),
  reject: selection(false, false),
  selectattr: selection(true, true),
  rejectattr: selection(false, true),
  min: extreme("min", 1),
  max: extreme("max", -1),
  sum: (value, args, host) => {
    const { attribute, start = 0 } = bindArguments("sum", args, ["attribute", "start"])
    const terms = iterate(value).map((item) =>
      attribute === undefined || attribute === null ? item : host.pick(item, attribute),
    )
    return terms.reduce<Value>((total, term) => binary("+", total, term, host.maxSize), start)
  },
  attr: (value, args) => {
    const name = str(bindArguments("attr", args, ["name"]).name ?? "")
    return valueOr(
      attributeOf(value, name),
      () => new Undefined(`'${typeName(value)} object' has no attribute ${repr(name)}`),
    )
  },
  abs: (value) => {
    const number = numberIn(value)
    if (number === undefined) throw new Failure(`bad operand type for abs(): '${typeName(value)}'`)
    return isFloat(value) ? floatOf(Math.abs(number)) : Math.abs(number)
  },
  round: (value, args) => round(value, args),
  float: (value, args) => {
    const { default: other = floatOf(0) } = bindArguments("float", args, ["default"])
    const number = numberIn(value) ?? parseFloatText(strip(textIn(value) ?? "", undefined, true, true))
    return number === undefined ? other : floatOf(number)
  },
}

function round(value: Value, args: CallArguments): Value {
  const { precision, method = "common" } = bindArguments("round", args, ["precision", "method"])
  const number = numberIn(value)
  if (number === undefined) throw new Failure(`type ${typeName(value)} doesn't define __round__ method`)
  const places = wholeNumber(precision, 0)
  const scale = 10 ** places
  const mode = str(method)
  if (mode === "ceil") return floatOf(Math.ceil(number * scale) / scale)
  if (mode === "floor") return floatOf(Math.floor(number * scale) / scale)
  if (mode !== "common") throw new Failure("method must be common, ceil or floor")
  const rounded = places >= 0 ? Number(fixed(number, places)) : Number(fixed(number * scale, 0)) / scale
  return isFloat(value) ? floatOf(rounded) : rounded
}
