import { Failure } from "./errors.ts"
import { Callable, Dict, Float, Loop, Markup, Namespace, Stream, Tuple, Undefined, View, type Value } from "./values.ts"

/** `str(value)`, which is also what an output tag prints. */
export function str(value: Value): string {
  if (typeof value === "string") return value
  if (value instanceof Markup) return value.text
  if (value instanceof Undefined) {
    value.allowNothing()
    return ""
  }
  return repr(value)
}

/** `repr(value)`: how a value stands inside a printed list or dictionary. */
export function repr(value: Value): string {
  if (typeof value === "string") return quote(value)
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : floatText(value)
  if (typeof value === "boolean") return value ? "True" : "False"
  if (value === null) return "None"
  if (Array.isArray(value)) return listText(value)
  return REPRESENTATIONS.find(([type]) => value instanceof type)?.[1](value) ?? ""
}

type Kind = abstract new (...args: never[]) => object

/** How the values that the interpreter itself makes stand inside a printed list. */
const REPRESENTATIONS: readonly (readonly [Kind, (value: Value) => string])[] = [
  shown(Dict, (value) => `{${entryTexts(value).join(", ")}}`),
  shown(Float, ({ value }) => floatText(value)),
  shown(Markup, ({ text }) => `Markup(${quote(text)})`),
  shown(Undefined, () => "Undefined"),
  shown(View, (value) => (value.kind === "range" ? rangeText(value) : `${value.kind}(${listText(value.items)})`)),
  shown(Namespace, ({ attributes }) => `<Namespace ${repr(Dict.from(attributes))}>`),
  shown(Callable, ({ name }) => `<function ${name}>`),
  shown(Loop, ({ index0, items }) => `<LoopContext ${index0 + 1}/${items.length}>`),
  shown(Stream, () => "<generator object>"),
]

function shown<Instance extends object>(
  type: abstract new (...args: never[]) => Instance,
  print: (value: Instance) => string,
): readonly [Kind, (value: Value) => string] {
  return [type, (value) => print(value as Instance)]
}

function listText(items: readonly Value[]): string {
  const inner = items.map(repr).join(", ")
  if (!(items instanceof Tuple)) return `[${inner}]`
  return items.length === 1 ? `(${inner},)` : `(${inner})`
}

function entryTexts(dict: Dict): string[] {
  return dict.entries().map(([key, value]) => `${repr(key)}: ${repr(value)}`)
}

function rangeText({ items }: View): string {
  const [first, second] = items as number[]
  if (first === undefined) return "range(0, 0)"
  const step = second === undefined ? 1 : second - first
  const end = (items.at(-1) as number) + step
  return step === 1 ? `range(${first}, ${end})` : `range(${first}, ${end}, ${step})`
}

const UNPRINTABLE = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu
const SHORT: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }

function quote(text: string): string {
  const body = text.replace(UNPRINTABLE, (character) => {
    const short = SHORT[character]
    if (short !== undefined) return short
    const code = character.codePointAt(0)!
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`
  })
  if (!body.includes("'")) return `'${body}'`
  return body.includes('"') ? `'${body.replaceAll("'", "\\'")}'` : `"${body}"`
}

/** A float as Python prints it: the shortest digits that read back, an exponent from 1e16 on and below 1e-4. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan"
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf"
  if (Object.is(value, -0)) return "-0.0"
  const [digits, exponentText] = value.toExponential().split("e") as [string, string]
  const exponent = Number(exponentText)
  if (value !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`
  }
  if (exponent < 0) return value.toFixed(Math.min(100, (digits.split(".")[1]?.length ?? 0) - exponent))
  const plain = String(value)
  return plain.includes(".") ? plain : `${plain}.0`
}

/** `value` with so many decimals, exact ties going to the even digit, as Python rounds; JavaScript rounds them up. */
export function fixed(value: number, decimals: number): string {
  const places = Math.min(100, decimals)
  const rounded = value.toFixed(places)
  if (Math.abs(value) >= 1e21 || places > 70) return rounded
  const exact = value.toFixed(places + 30)
  if (!/^50*$/.test(exact.slice(-30))) return rounded
  const down = exact.slice(0, places === 0 ? exact.length - 31 : -30)
  return /[02468]$/.test(down) ? down : rounded
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll(">", "&gt;")
    .replaceAll("<", "&lt;")
    .replaceAll("'", "&#39;")
    .replaceAll('"', "&#34;")
}

const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
const SPACE_CHARACTER = new RegExp(`[${SPACE}]`)

export function isSpace(character: string): boolean {
  return SPACE_CHARACTER.test(character)
}

/** `str.strip`, `lstrip` and `rstrip`: white space, or any of the characters given. */
export function strip(text: string, characters: string | undefined, start: boolean, end: boolean): string {
  const set = characters === undefined ? undefined : new Set(characters)
  const goes = (character: string): boolean => (set === undefined ? isSpace(character) : set.has(character))
  let from = 0
  let to = text.length
  if (start) for (let size; from < to && goes(text.slice(from, from + (size = sizeAt(text, from))));) from += size
  if (end) for (let size; to > from && goes(text.slice(to - (size = sizeBefore(text, to)), to));) to -= size
  return text.slice(from, to)
}

function sizeAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

function sizeBefore(text: string, at: number): number {
  return at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1
}

/** Splits at runs of white space, as `str.split()` without a separator. */
export function splitSpace(text: string, limit: number, fromEnd: boolean): string[] {
  const pattern = new RegExp(`[^${SPACE}]+`, "g")
  const words = [...text.matchAll(pattern)]
  if (limit < 0 || words.length <= limit + 1) return words.map((word) => word[0])
  if (fromEnd) {
    const kept = words.slice(words.length - limit)
    const head = text.slice(0, kept[0]?.index ?? text.length)
    return [strip(head, undefined, false, true), ...kept.map((word) => word[0])]
  }
  return [...words.slice(0, limit).map((word) => word[0]), text.slice(words[limit]!.index)]
}

/** Text that must be a string, for arguments of string methods. */
export function needText(value: Value | undefined, what: string): string {
  if (typeof value === "string") return value
  if (value instanceof Markup) return value.text
  throw new Failure(`${what} must be str`)
}
