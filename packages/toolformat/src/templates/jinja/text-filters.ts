import { Failure } from "./errors.ts"
import { bindArguments, flag, wholeNumber, type Filter } from "./filter-arguments.ts"
import { formatPercent } from "./format.ts"
import { dumpJson, fromData } from "./json.ts"
import { capitalize, replaceText } from "./string-methods.ts"
import { escapeHtml, repr, str, strip } from "./text.ts"
import { charactersOf, Dict, Markup, numberIn, textIn, Tuple, type Value } from "./values.ts"

/** Applies a change of text, keeping a mark of safety. */
const keepMark = (value: Value, change: (text: string) => string): Value =>
  value instanceof Markup ? new Markup(change(value.text)) : change(str(value))

const escape: Filter = (value) => (value instanceof Markup ? value : new Markup(escapeHtml(str(value))))

/** Filters that make text. */
export const TEXT_FILTERS: Record<string, Filter> = {
  string: (value) => (value instanceof Markup ? value : str(value)),
  upper: (value) => keepMark(value, (text) => text.toUpperCase()),
  lower: (value) => keepMark(value, (text) => text.toLowerCase()),
  capitalize: (value) => keepMark(value, capitalize),
  title: (value) =>
    str(value)
      .split(/([-\s({[<]+)/u)
      .filter((part) => part !== "")
      .map(capitalize)
      .join(""),
  trim: (value, args) => {
    const { chars } = bindArguments("trim", args, ["chars"])
    return keepMark(value, (text) =>
      strip(text, chars === undefined || chars === null ? undefined : str(chars), true, true),
    )
  },
  replace: (value, args) => {
    const { old, new: fresh, count } = bindArguments("replace", args, ["old", "new", "count"])
    if (old === undefined || fresh === undefined) throw new Failure("replace needs two arguments")
    return replaceText(
      str(value),
      str(old),
      str(fresh),
      count === undefined || count === null ? -1 : wholeNumber(count, -1),
    )
  },
  indent: (value, args, host) => {
    const { width = 4, first, blank } = bindArguments("indent", args, ["width", "first", "blank"])
    const margin = textIn(width) ?? " ".repeat(Math.min(host.maxSize, Math.max(0, wholeNumber(width, 4))))
    return keepMark(value, (text) => {
      const [head = "", ...rest] = text.split(/\r\n|\r|\n/)
      const body = rest.map((line) => (line === "" && !flag(blank) ? "" : margin + line))
      if (body.length * margin.length > host.maxSize)
        throw new Failure("An indented text is too large", "TEMPLATE_LIMIT")
      return [flag(first) ? margin + head : head, ...body].join("\n")
    })
  },
  center: (value, args) => {
    const width = wholeNumber(bindArguments("center", args, ["width"]).width, 80)
    const text = str(value)
    const missing = Math.max(0, Math.min(width, 100_000) - charactersOf(text).length)
    const left = (missing >> 1) + (missing & width & 1)
    return " ".repeat(left) + text + " ".repeat(missing - left)
  },
  truncate: (value, args) => {
    const {
      length,
      killwords,
      end = "...",
      leeway,
    } = bindArguments("truncate", args, ["length", "killwords", "end", "leeway"])
    const characters = charactersOf(str(value))
    const size = wholeNumber(length, 255)
    if (characters.length <= size + wholeNumber(leeway, 5)) return characters.join("")
    const cut = characters.slice(0, Math.max(0, size - charactersOf(str(end)).length)).join("")
    const words = flag(killwords) ? cut : cut.slice(0, cut.includes(" ") ? cut.lastIndexOf(" ") : undefined)
    return words + str(end)
  },
  wordcount: (value) => (str(value).match(/[\p{L}\p{N}_]+/gu) ?? []).length,
  striptags: (value) =>
    str(value)
      .replace(/<!--[^]*?-->|<[^>]*>/g, "")
      .split(/\s+/)
      .filter((word) => word !== "")
      .join(" "),
  urlencode: (value) => {
    const quote = (text: string): string =>
      encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
    if (value instanceof Dict)
      return value
        .entries()
        .map(([key, item]) => `${quote(str(key))}=${quote(str(item))}`)
        .join("&")
    return quote(str(value)).replaceAll("%2F", "/")
  },
  format: (value, { positional, named }, host) => {
    const values = named.size > 0 ? Dict.from(named) : Tuple.holding(positional)
    return formatPercent(str(value), values, host.maxSize)
  },
  escape,
  e: escape,
  forceescape: (value) => new Markup(escapeHtml(str(value))),
  safe: (value) => (value instanceof Markup ? value : new Markup(str(value))),
  pprint: (value) => repr(value),
  tojson: (value, args) => {
    const { indent, separators, ensure_ascii, sort_keys } = bindArguments("tojson", args, [
      "ensure_ascii",
      "indent",
      "separators",
      "sort_keys",
    ])
    const width =
      indent === undefined || indent === null
        ? undefined
        : (textIn(indent) ?? " ".repeat(Math.min(100, wholeNumber(indent, 0))))
    const [itemSeparator, keySeparator] = Array.isArray(separators)
      ? separators.map(str)
      : [width === undefined ? ", " : ",", ": "]
    return dumpJson(value, {
      indent: width,
      itemSeparator: itemSeparator ?? ", ",
      keySeparator: keySeparator ?? ": ",
      sortKeys: flag(sort_keys),
      ensureAscii: flag(ensure_ascii),
    })
  },
  // Not in Python's Jinja: some templates use these for arguments that come as JSON text.
  fromjson: (value) => parseJson(value),
  from_json: (value) => parseJson(value),
  int: (value, args) => {
    const { default: fallback = 0, base } = bindArguments("int", args, ["default", "base"])
    const number = numberIn(value)
    if (number !== undefined) return Number.isFinite(number) ? Math.trunc(number) : fallback
    const text = strip(textIn(value) ?? "", undefined, true, true).replaceAll("_", "")
    const radix = wholeNumber(base, 10)
    const digits = radix === 10 ? text : text.replace(/^([-+]?)0[xXoObB]/, "$1")
    const whole =
      /^[-+]?[\da-zA-Z]+$/.test(digits) && (radix !== 10 || /^[-+]?\d+$/.test(digits))
        ? Number.parseInt(digits, radix)
        : Number.NaN
    if (!Number.isNaN(whole)) return whole
    const float = parseFloatText(text)
    return float === undefined ? fallback : Math.trunc(float)
  },
}

function parseJson(value: Value): Value {
  const text = textIn(value)
  if (text === undefined) return value
  try {
    return fromData(JSON.parse(text))
  } catch (thrown) {
    throw new Failure(`Text is not JSON: ${(thrown as Error).message}`)
  }
}

/** A decimal number in text, as Python's `float()` reads it, infinities left out. */
export function parseFloatText(text: string): number | undefined {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text) ? Number(text) : undefined
}
