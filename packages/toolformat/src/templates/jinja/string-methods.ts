import { Failure } from "./errors.ts"
import { formatFields, type Reach } from "./format.ts"
import { escapeHtml, isSpace, needText, splitSpace, str, strip } from "./text.ts"
import {
  Callable,
  charactersOf,
  Dict,
  iterate,
  Markup,
  numberIn,
  truthy,
  Tuple,
  type CallArguments,
  type Value,
} from "./values.ts"

type Method = (text: string, args: CallArguments, reach: Reach) => Value

const MAX_PADDING = 100_000

/** The method of a string bound to it. Methods of marked text give marked text. `reach` serves `format`. */
export function stringMethod(owner: string | Markup, name: string, reach: Reach): Callable | undefined {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (method === undefined) return undefined
  if (typeof owner === "string") return new Callable(name, (args) => method(owner, args, reach))
  return new Callable(name, (args) => markResult(method(owner.text, escapeArguments(name, args), reach)))
}

function markResult(value: Value): Value {
  if (typeof value === "string") return new Markup(value)
  return Array.isArray(value) && !(value instanceof Tuple) ? value.map(markResult) : value
}

/** What methods of marked text put into it is escaped first. */
function escapeArguments(method: string, { positional, named }: CallArguments): CallArguments {
  const escape = (value: Value): Value => (typeof value === "string" ? escapeHtml(value) : value)
  if (method === "format")
    return {
      positional: positional.map(escape),
      named: new Map(Array.from(named, ([key, value]) => [key, escape(value)])),
    }
  if (method === "join") return { positional: positional.map((items) => iterate(items).map(escape)), named }
  if (method === "replace")
    return { positional: positional.map((value, index) => (index === 1 ? escape(value) : value)), named }
  return { positional, named }
}

const optionalText = (value: Value | undefined): string | undefined =>
  value === undefined || value === null ? undefined : needText(value, "strip arg")

const integer = (value: Value | undefined, fallback: number): number =>
  value === undefined ? fallback : (numberIn(value) ?? fallback)

/** Python's `text[start:end]` bounds of the search methods, in UTF-16 units where no character needs two. */
function within(text: string, [, start, end]: Value[]): { part: string; offset: number } {
  if (start === undefined && end === undefined) return { part: text, offset: 0 }
  const characters = charactersOf(text)
  const size = characters.length
  const clamp = (value: number): number => Math.max(0, Math.min(size, value < 0 ? value + size : value))
  const from = clamp(integer(start ?? undefined, 0))
  const to = end === undefined || end === null ? size : clamp(integer(end, size))
  return { part: characters.slice(from, to).join(""), offset: from }
}

function search(text: string, positional: Value[], last: boolean): number {
  const { part, offset } = within(text, positional)
  const wanted = needText(positional[0], "find arg")
  const at = last ? part.lastIndexOf(wanted) : part.indexOf(wanted)
  return at < 0 ? -1 : offset + charactersOf(part.slice(0, at)).length
}

function affix(text: string, positional: Value[], test: (part: string, affix: string) => boolean): boolean {
  const { part } = within(text, positional)
  const [wanted] = positional
  if (wanted instanceof Tuple) return wanted.some((each) => test(part, needText(each, "affix")))
  return test(part, needText(wanted, "startswith first arg"))
}

function split(text: string, { positional, named }: CallArguments, fromEnd: boolean): Value {
  const separator = positional[0] ?? named.get("sep") ?? null
  const limit = integer(positional[1] ?? named.get("maxsplit"), -1)
  if (separator === null) return splitSpace(text, limit, fromEnd)
  const by = needText(separator, "separator")
  if (by === "") throw new Failure("empty separator")
  const parts = text.split(by)
  if (limit < 0 || parts.length <= limit + 1) return parts
  if (fromEnd) return [parts.slice(0, parts.length - limit).join(by), ...parts.slice(parts.length - limit)]
  return [...parts.slice(0, limit), parts.slice(limit).join(by)]
}

function partition(text: string, separator: Value | undefined, last: boolean): Value {
  const by = needText(separator, "separator")
  const at = last ? text.lastIndexOf(by) : text.indexOf(by)
  if (at < 0) return Tuple.holding(last ? ["", "", text] : [text, "", ""])
  return Tuple.holding([text.slice(0, at), by, text.slice(at + by.length)])
}

function padding(text: string, { positional }: CallArguments): { missing: number; fill: string } {
  const width = integer(positional[0], 0)
  if (width > MAX_PADDING) throw new Failure("A padding is too wide", "TEMPLATE_LIMIT")
  return {
    missing: Math.max(0, width - charactersOf(text).length),
    fill: positional[1] === undefined ? " " : str(positional[1]),
  }
}

/** Replaces up to `count` occurrences (all when negative). */
export function replaceText(text: string, from: string, to: string, count: number): string {
  const parts = from === "" ? ["", ...charactersOf(text), ""] : text.split(from)
  if (count < 0) return parts.join(to)
  const kept = parts.splice(0, count + 1)
  return kept.join(to) + (parts.length > 0 ? from + parts.join(from) : "")
}

export function capitalize(text: string): string {
  const [first = "", ...rest] = charactersOf(text)
  return first.toUpperCase() + rest.join("").toLowerCase()
}

const every = (text: string, pattern: RegExp): boolean =>
  text !== "" && charactersOf(text).every((each) => pattern.test(each))
const cased = (text: string, other: string): boolean => other !== text && /\p{L}/u.test(text)

const METHODS: Record<string, Method> = {
  capitalize: (text) => capitalize(text),
  casefold: (text) => text.toLowerCase().replaceAll("ß", "ss"),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  swapcase: (text) =>
    charactersOf(text)
      .map((each) => (each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase()))
      .join(""),
  title: (text) => text.replace(/\p{L}+/gu, capitalize),
  strip: (text, { positional: [set] }) => strip(text, optionalText(set), true, true),
  lstrip: (text, { positional: [set] }) => strip(text, optionalText(set), true, false),
  rstrip: (text, { positional: [set] }) => strip(text, optionalText(set), false, true),
  split: (text, args) => split(text, args, false),
  rsplit: (text, args) => split(text, args, true),
  splitlines: (text, { positional: [keep], named }) => {
    const lines =
      text.match(
        /[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])|[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+$/g,
      ) ?? []
    return truthy(keep ?? named.get("keepends") ?? false)
      ? lines
      : lines.map((line) => line.replace(/(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/, ""))
  },
  partition: (text, { positional: [by] }) => partition(text, by, false),
  rpartition: (text, { positional: [by] }) => partition(text, by, true),
  startswith: (text, { positional }) => affix(text, positional, (part, wanted) => part.startsWith(wanted)),
  endswith: (text, { positional }) => affix(text, positional, (part, wanted) => part.endsWith(wanted)),
  removeprefix: (text, { positional: [prefix] }) => {
    const wanted = needText(prefix, "removeprefix() argument")
    return text.startsWith(wanted) ? text.slice(wanted.length) : text
  },
  removesuffix: (text, { positional: [suffix] }) => {
    const wanted = needText(suffix, "removesuffix() argument")
    return wanted !== "" && text.endsWith(wanted) ? text.slice(0, -wanted.length) : text
  },
  find: (text, { positional }) => search(text, positional, false),
  rfind: (text, { positional }) => search(text, positional, true),
  index: (text, { positional }) => found(search(text, positional, false)),
  rindex: (text, { positional }) => found(search(text, positional, true)),
  count: (text, { positional }) => {
    const wanted = needText(positional[0], "count arg")
    return wanted === "" ? charactersOf(text).length + 1 : within(text, positional).part.split(wanted).length - 1
  },
  replace: (text, { positional: [from, to, count], named }) =>
    replaceText(
      text,
      needText(from, "replace() argument 1"),
      needText(to, "replace() argument 2"),
      integer(count ?? named.get("count"), -1),
    ),
  join: (text, { positional: [items = null] }) =>
    iterate(items)
      .map((item, index) => needText(item, `sequence item ${index}`))
      .join(text),
  format: (text, args, reach) => formatFields(text, args, reach),
  format_map: (text, { positional: [map] }, reach) => {
    if (!(map instanceof Dict)) throw new Failure("format_map() argument must be a mapping")
    return formatFields(
      text,
      { positional: [], named: new Map(map.entries().map(([key, value]) => [str(key), value])) },
      reach,
    )
  },
  ljust: (text, args) => {
    const { missing, fill } = padding(text, args)
    return text + fill.repeat(missing)
  },
  rjust: (text, args) => {
    const { missing, fill } = padding(text, args)
    return fill.repeat(missing) + text
  },
  center: (text, args) => {
    const { missing, fill } = padding(text, args)
    const left = (missing >> 1) + (missing & integer(args.positional[0], 0) & 1)
    return fill.repeat(left) + text + fill.repeat(missing - left)
  },
  zfill: (text, args) => {
    const { missing } = padding(text, args)
    const sign = /^[-+]/.exec(text)?.[0] ?? ""
    return sign + "0".repeat(missing) + text.slice(sign.length)
  },
  expandtabs: (text, { positional: [size] }) =>
    text.replace(/[^\n\t]*\t/g, (part) => {
      const width = integer(size, 8)
      return (
        part.slice(0, -1) + (width > 0 ? " ".repeat(Math.min(MAX_PADDING, width - ((part.length - 1) % width))) : "")
      )
    }),
  isalpha: (text) => every(text, /\p{L}/u),
  isalnum: (text) => every(text, /[\p{L}\p{N}]/u),
  isdigit: (text) => every(text, /[\p{Nd}²³¹]/u),
  isdecimal: (text) => every(text, /\p{Nd}/u),
  isnumeric: (text) => every(text, /\p{N}/u),
  isspace: (text) => text !== "" && charactersOf(text).every(isSpace),
  isascii: (text) => /^[\x00-\x7f]*$/.test(text),
  islower: (text) => cased(text, text.toUpperCase()) && text === text.toLowerCase(),
  isupper: (text) => cased(text, text.toLowerCase()) && text === text.toUpperCase(),
  istitle: (text) => /\p{L}/u.test(text) && text === text.replace(/\p{L}+/gu, capitalize),
}

function found(at: number): number {
  if (at < 0) throw new Failure("substring not found")
  return at
}
