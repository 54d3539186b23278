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
  const result = template.replace(
    PERCENT,
    (
      _whole,
      key: string | undefined,
      flags: string,
      width: string,
      precision: string | undefined,
      type: string | undefined,
    ) => {
      if (type === "%") return "%"
      if (type === undefined) throw new Failure("incomplete format")
      const size = width === "*" ? (numberIn(take()) ?? 0) : Number(width)
      const digits =
        precision === undefined ? undefined : precision === "*" ? (numberIn(take()) ?? 0) : Number(precision)
      let argument: Value
      if (key === undefined) argument = take()
      else {
        if (!(value instanceof Dict)) throw new Failure("format requires a mapping")
        used = positional.length
        argument = valueOr(value.get(key), () => fail(`KeyError: ${repr(key)}`))
      }
      const numeric = !"sra".includes(type)
      return formatWith(
        numeric ? argument : type === "s" ? str(argument) : repr(argument),
        {
          fill: flags.includes("0") && !flags.includes("-") && numeric ? "0" : " ",
          align: flags.includes("-") ? "<" : flags.includes("0") && numeric ? "=" : ">",
          sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "-",
          alternate: flags.includes("#"),
          zero: false,
          width: size,
          grouping: "",
          precision: digits,
          type: type === "i" || type === "u" ? "d" : numeric ? type : "s",
        },
        true,
      )
    },
  )
  if (used < positional.length && !(value instanceof Dict))
    throw new Failure("not all arguments converted during string formatting")
  if (result.length > maxSize) throw new Failure("A formatted text is too large", "TEMPLATE_LIMIT")
  return result
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
  const { fill, align, width, precision, type } = specification
  if (width > MAX_WIDTH || (precision ?? 0) > MAX_WIDTH) throw new Failure("A format is too wide", "TEMPLATE_LIMIT")
  const number = numberIn(value)
  if (number === undefined || type === "s") {
    if (type !== "" && type !== "s") {
      if (percent) throw new Failure(`%${type} format: a real number is required, not ${typeName(value)}`)
      throw new Failure(`Unknown format code '${type}' for object of type '${typeName(value)}'`)
    }
    const text = str(value)
    return pad(precision === undefined ? text : charactersOf(text).slice(0, precision).join(""), fill, align, width)
  }
  if (type === "" && typeof value === "boolean") return pad(str(value), fill, align, width)
  const digits = group(digitsOf(Math.abs(number), isFloat(value), specification), specification.grouping)
  const negative = number < 0 || Object.is(number, -0)
  const lead = negative ? "-" : specification.sign === "-" ? "" : specification.sign
  if (align === "=") return lead + digits.padStart(width - lead.length, fill)
  return pad(lead + digits, fill, align, width)
}

function digitsOf(value: number, float: boolean, { type, precision, alternate }: Specification): string {
  switch (type) {
    case "d":
      return Math.trunc(value).toFixed(0)
    case "x":
    case "X":
    case "o":
    case "b": {
      const digits = Math.trunc(value).toString(type === "b" ? 2 : type === "o" ? 8 : 16)
      const text = alternate ? `0${type.toLowerCase()}${digits}` : digits
      return type === "X" ? text.toUpperCase() : text
    }
    case "f":
    case "F":
      return fixed(value, precision ?? 6)
    case "%":
      return `${fixed(value * 100, precision ?? 6)}%`
    case "e":
    case "E": {
      const text = value.toExponential(Math.min(100, precision ?? 6)).replace(/e([-+])(\d)$/, "e$10$2")
      return type === "E" ? text.toUpperCase() : text
    }
    case "g":
    case "G":
    case "":
      if (type === "" && precision === undefined) return float ? floatText(value) : value.toFixed(0)
      return general(value, Math.max(1, precision ?? 6))
    default:
      return fail(`Unknown format code '${type}' for object of type '${float ? "float" : "int"}'`)
  }
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

function pad(text: string, fill: string, align: string, width: number): string {
  const missing = width - charactersOf(text).length
  if (missing <= 0) return text
  if (align === "<") return text + fill.repeat(missing)
  if (align === "^") return fill.repeat(missing >> 1) + text + fill.repeat(missing - (missing >> 1))
  return fill.repeat(missing) + text
}

function fail(message: string): never {
  throw new Failure(message)
}
