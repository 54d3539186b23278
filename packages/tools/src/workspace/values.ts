import type { Code } from "./elements.ts"

export type Language = "python" | "typescript" | "javascript"

/**
 * A value of an artifact as source text. JSON values become literals. A text is ambiguous: `{ "code": "…" }` is always
 * an expression; a plain text is a literal where the declared type is a string, an expression where another type is
 * declared, and without a type an expression only if it looks like one (a number, a quoted text, a call, a constant of
 * the language).
 */
export function printValue(value: unknown, type: string | undefined, language: Language): string {
  if (isCode(value)) return value.code.trim()
  if (typeof value !== "string") return literal(value, language)
  const written = value.trim()
  const isText = type !== undefined && /^(?:str|string)$/iu.test(type.trim())
  if (isText) return isQuoted(written) ? written : JSON.stringify(value)
  if (type !== undefined && written !== "") return written
  return looksLikeCode(written) ? written : JSON.stringify(value)
}

function isCode(value: unknown): value is Code {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Code).code === "string" &&
    Object.keys(value).length === 1
  )
}

function literal(value: unknown, language: Language): string {
  if (language !== "python") return JSON.stringify(value)
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, language)).join(", ")}]`
  if (typeof value === "object") {
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${literal(one, language)}`)
      .join(", ")}}`
  }
  return JSON.stringify(value)
}

function isQuoted(text: string): boolean {
  return /^(?:[rbfu]{0,2}"(?:[^"\\\n]|\\.)*"|[rbfu]{0,2}'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|[rbfu]{0,2}"""[\s\S]*"""|[rbfu]{0,2}'''[\s\S]*''')$/iu.test(
    text,
  )
}

function looksLikeCode(text: string): boolean {
  return (
    isQuoted(text) ||
    /^-?(?:\d[\d_]*\.?[\d_]*(?:e[+-]?\d+)?|0x[\da-f_]+|0b[01_]+|\.\d+)n?$/iu.test(text) ||
    /^(?:True|False|None|true|false|null|undefined|NaN|Infinity)$/u.test(text) ||
    /^(?:new\s+|await\s+|lambda\b)?[\p{L}_$][\p{L}\p{N}_$.]*[([].*[)\]]$/su.test(text) ||
    /^[[{(][\s\S]*[\])}]$/u.test(text) ||
    /=>/u.test(text)
  )
}

const TO_TYPESCRIPT: Record<string, string> = {
  int: "number",
  float: "number",
  str: "string",
  bool: "boolean",
  None: "void",
  Any: "unknown",
  bytes: "Uint8Array",
  object: "unknown",
}
const TO_PYTHON: Record<string, string> = {
  string: "str",
  number: "float",
  boolean: "bool",
  void: "None",
  null: "None",
  undefined: "None",
  unknown: "object",
  bigint: "int",
}

/**
 * A type of the other language in this one's words, where there is an exact word for it; other types stay as they are.
 */
export function printType(type: string, language: Language): string {
  if (language === "python") {
    const list = /^([\w.]+)\[\]$/u.exec(type)
    if (list !== null) return `list[${printType(list[1]!, language)}]`
    return TO_PYTHON[type] ?? type
  }
  const list = /^(?:list|List)\[([^[\],]+)\]$/u.exec(type)
  if (list !== null) return `${printType(list[1]!, language)}[]`
  const optional = /^Optional\[([^[\]]+)\]$/u.exec(type)
  if (optional !== null) return `${printType(optional[1]!, language)} | null`
  const dictionary = /^(?:dict|Dict)\[([^[\],]+),\s*([^[\],]+)\]$/u.exec(type)
  if (dictionary !== null)
    return `Record<${printType(dictionary[1]!, language)}, ${printType(dictionary[2]!, language)}>`
  return TO_TYPESCRIPT[type] ?? type
}
