import { Failure } from "./errors.ts"
import { fixed, floatText, repr, str } from "./text.ts"
import {
  charactersOf,
  Dict,
  isFloat,
  numberIn,
  Tuple,
  typeName,
  valueOr,
  type CallArguments,
  type Value,
} from "./values.ts"

const MAX_WIDTH = 10_000

/** What stands after the colon of a replacement field, or in a `%` conversion. */
interface Specification {
  fill: string
  align: string
  sign: string
  alternate: boolean
  zero: boolean
  width: number
  grouping: string
  precision: number | undefined
  type: string
}

const PERCENT = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?([a-zA-Z%])?/g

/** `text % value`: printf-style formatting. */
export function formatPercent(template: string, value: Value, maxSize: number): string {
  const positional = value instanceof Tuple ? [...value] : [value]
  let used = 0
  const take = (): Value => {
    if (used >= positional.length) throw new Failure("not enough arguments for format string")
    used += 1
    return positional[used - 1]!
  }
  const number = (text: string): number => (text === "*" ? (numberIn(take()) ?? 0) : Number(text))
  const result = template.replace(PERCENT, (_whole, ...groups: (string | undefined)[]) => {
    const [key, flags = "", width = "", precision, type] = groups
    if (type === "%") return "%"
    if (type === undefined) throw new Failure("incomplete format")
    const specification = percentSpecification(flags, type)
    specification.width = number(width)
    specification.precision = precision === undefined ? undefined : number(precision)
    if (key !== undefined) used = positional.length
    const argument = key === undefined ? take() : member(value, key)
    if (specification.type !== "s") return formatWith(argument, specification, true)
    return formatWith(type === "s" ? str(argument) : repr(argument), specification, true)
  })
  if (used < positional.length && !(value instanceof Dict))
    throw new Failure("not all arguments converted during string formatting")
  if (result.length > maxSize) throw new Failure("A formatted text is too large", "TEMPLATE_LIMIT")
  return result
}

/** What the flags and the letter of a `%` conversion say. */
function percentSpecification(flags: string, type: string): Specification {
  const isText = "sra".includes(type)
  const isLeft = flags.includes("-")
  const isFilled = flags.includes("0") && !isText
  return {
    fill: isFilled && !isLeft ? "0" : " ",
    align: isLeft ? "<" : isFilled ? "=" : ">",
    sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "-",
    alternate: flags.includes("#"),
    zero: false,
    width: 0,
    grouping: "",
    precision: undefined,
    type: isText ? "s" : type === "i" || type === "u" ? "d" : type,
  }
}

function member(value: Value, key: string): Value {
  if (!(value instanceof Dict)) throw new Failure("format requires a mapping")
  return valueOr(value.get(key), () => fail(`KeyError: ${repr(key)}`))
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/g

/** Goes from a value to its attribute or item; how a replacement field like `{x.name[0]}` finds what it prints. */
export type Reach = (value: Value, step: { attribute: string } | { item: Value }) => Value

/** `text.format(…)`: replacement fields with attributes, keys, conversions and format specifications. */
export function formatFields(template: string, args: CallArguments, reach: Reach): string {
  let automatic = 0
  const expand = (text: string): string =>
    text.replace(
      FIELD,
      (whole, path: string | undefined, conversion: string | undefined, specification: string | undefined) => {
        if (whole === "{{" || whole === "}}") return whole[0]!
        if (path === undefined) throw new Failure(`Single '${whole}' encountered in format string`)
        const value = lookUp(path)
        const converted = conversion === undefined ? value : conversion === "s" ? str(value) : repr(value)
        return specification === undefined ? str(converted) : formatValue(converted, expand(specification))
      },
    )
  const lookUp = (path: string): Value => {
    const [, head = "", rest = ""] = /^([^.[]*)(.*)$/s.exec(path)!
    let value: Value | undefined
    if (head === "") value = args.positional[automatic++]
    else value = /^\d+$/.test(head) ? args.positional[Number(head)] : args.named.get(head)
    if (value === undefined)
      fail(
        head === "" || /^\d+$/.test(head)
          ? "Replacement index out of range for positional args tuple"
          : `KeyError: ${repr(head)}`,
      )
    let found: Value = value!
    for (const [, attribute, key] of rest.matchAll(/\.([^.[]+)|\[([^\]]*)\]/g)) {
      found = reach(found, attribute === undefined ? { item: /^\d+$/.test(key!) ? Number(key) : key! } : { attribute })
    }
    return found
  }
  return expand(template)
}

const SPECIFICATION = /^(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su

/** `format(value, specification)`. */
export function formatValue(value: Value, specification: string): string {
  const parts = SPECIFICATION.exec(specification) ?? fail(`Invalid format specifier '${specification}'`)
  const [, fill, align, sign, alternate, zero, width, grouping, precision, type] = parts
  const numeric = numberIn(value) !== undefined && typeof value !== "boolean"
  return formatWith(
    value,
    {
      fill: fill ?? (zero === undefined ? " " : "0"),
      align: align ?? (zero !== undefined && numeric ? "=" : numeric ? ">" : "<"),
      sign: sign ?? "-",
      alternate: alternate !== undefined,
      zero: zero !== undefined,
      width: Number(width ?? 0),
      grouping: grouping ?? "",
      precision: precision === undefined ? undefined : Number(precision),
      type: type ?? "",
    },
    false,
  )
}

function formatWith(value: Value, specification: Specification, percent: boolean): string {
  const { align, width, precision, type } = specification
  if (width > MAX_WIDTH || (precision ?? 0) > MAX_WIDTH) throw new Failure("A format is too wide", "TEMPLATE_LIMIT")
  const number = numberIn(value)
  if (number === undefined || type === "s") return formatText(value, specification, percent)
  if (type === "" && typeof value === "boolean") return pad(str(value), specification)
  const digits = group(digitsOf(Math.abs(number), isFloat(value), specification), specification.grouping)
  const negative = number < 0 || Object.is(number, -0)
  const lead = negative ? "-" : specification.sign === "-" ? "" : specification.sign
  if (align === "=") return lead + digits.padStart(width - lead.length, specification.fill)
  return pad(lead + digits, specification)
}

function formatText(value: Value, specification: Specification, percent: boolean): string {
  const { precision, type } = specification
  if (type !== "" && type !== "s") {
    if (percent) throw new Failure(`%${type} format: a real number is required, not ${typeName(value)}`)
    throw new Failure(`Unknown format code '${type}' for object of type '${typeName(value)}'`)
  }
  const text = str(value)
  return pad(precision === undefined ? text : charactersOf(text).slice(0, precision).join(""), specification)
}

/** The digits of a number that is not negative, by the letter that asks for them. */
const DIGITS: Readonly<Record<string, (value: number, specification: Specification) => string>> = {
  d: (value) => Math.trunc(value).toFixed(0),
  x: (value, { alternate }) => radix(value, 16, alternate ? "0x" : ""),
  X: (value, { alternate }) => radix(value, 16, alternate ? "0x" : "").toUpperCase(),
  o: (value, { alternate }) => radix(value, 8, alternate ? "0o" : ""),
  b: (value, { alternate }) => radix(value, 2, alternate ? "0b" : ""),
  f: (value, { precision }) => fixed(value, precision ?? 6),
  F: (value, { precision }) => fixed(value, precision ?? 6),
  "%": (value, { precision }) => `${fixed(value * 100, precision ?? 6)}%`,
  e: (value, { precision }) => exponential(value, precision),
  E: (value, { precision }) => exponential(value, precision).toUpperCase(),
  g: (value, { precision }) => general(value, Math.max(1, precision ?? 6)),
  G: (value, { precision }) => general(value, Math.max(1, precision ?? 6)),
}

function digitsOf(value: number, float: boolean, specification: Specification): string {
  const { type, precision } = specification
  if (type === "" && precision === undefined) return float ? floatText(value) : value.toFixed(0)
  const digits = type === "" ? DIGITS.g : Object.hasOwn(DIGITS, type) ? DIGITS[type] : undefined
  if (digits === undefined) fail(`Unknown format code '${type}' for object of type '${float ? "float" : "int"}'`)
  return digits(value, specification)
}

function radix(value: number, base: number, prefix: string): string {
  return prefix + Math.trunc(value).toString(base)
}

function exponential(value: number, precision = 6): string {
  return value.toExponential(Math.min(100, precision)).replace(/e([-+])(\d)$/, "e$10$2")
}

function general(value: number, precision: number): string {
  const exponent = value === 0 ? 0 : Number(value.toExponential(Math.min(100, precision - 1)).split("e")[1])
  if (exponent < -4 || exponent >= precision) {
    const [digits, power] = value.toExponential(Math.min(100, precision - 1)).split("e") as [string, string]
    const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits
    return `${short}e${power[0]}${power.slice(1).padStart(2, "0")}`
  }
  const text = fixed(value, Math.max(0, precision - 1 - exponent))
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

function group(digits: string, separator: string): string {
  if (separator === "") return digits
  const [whole = "", ...rest] = digits.split(/(?=[.e%])/)
  return whole.replace(/\B(?=(?:\d{3})+$)/g, separator) + rest.join("")
}

function pad(text: string, { fill, align, width }: Specification): string {
  const missing = width - charactersOf(text).length
  if (missing <= 0) return text
  if (align === "<") return text + fill.repeat(missing)
  if (align === "^") return fill.repeat(missing >> 1) + text + fill.repeat(missing - (missing >> 1))
  return fill.repeat(missing) + text
}

function fail(message: string): never {
  throw new Failure(message)
}
