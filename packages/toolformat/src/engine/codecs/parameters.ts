import type { ToolDefinition } from "@toolwright/toolbox"
import { ANYTHING, printText, typingOf } from "../coerce.ts"
import type { ParametersSyntax } from "../syntax.ts"
import type { Codec } from "./codec.ts"
import { closeOf, readParameters } from "./parameters-reader.ts"

/** Parameters between tags. What stands between two tags is the value, character for character. */
export const parameters: Codec<ParametersSyntax> = {
  openings: ({ call }) => call.open,
  marks: ({ call }) => call.close,
  between: "",
  read: readParameters,
  print(call, syntax, tool, index) {
    const { afterName = "", afterParameter = "" } = syntax.lines ?? {}
    const body = Object.entries(call.arguments).map(
      ([key, value]) => printParameter(key, value, syntax, tool) + afterParameter,
    )
    const nameEnd = (syntax.call.nameEnd[0] ?? "").replace("{index}", String(index + 1)).replace("{id}", () => call.id)
    const { open, idBefore } = syntax.call
    const id = idBefore === undefined ? "" : `${call.id}${idBefore}`
    return `${open[0] ?? ""}${id}${call.name}${nameEnd}${afterName}${body.join("")}${syntax.call.close[0] ?? ""}`
  },
}

function printParameter(
  key: string,
  value: unknown,
  syntax: ParametersSyntax,
  tool: ToolDefinition | undefined,
): string {
  const { parameter, framed, cdata, typed } = syntax
  const typing = typingOf(tool, key) ?? (syntax.untyped === "json" ? ANYTHING : undefined)
  let text = typeof value === "string" && typed !== undefined ? value : printText(value, typing)
  if (cdata === true && /[<&\n]/.test(text)) text = text.includes("]]>") ? entities(text) : `<![CDATA[${text}]]>`
  // an attribute follows the key's own closing quote
  const said = typed?.attribute === "string" ? typeof value === "string" : typeName(value)
  const keyEnd = typed === undefined ? (parameter.keyEnd[0] ?? "") : `" ${typed.attribute}="${said}"${typed.end}`
  const line = framed === true ? "\n" : ""
  return `${parameter.open[0] ?? ""}${key}${keyEnd}${line}${text}${line}${closeOf(parameter.close[0] ?? "", key)}`
}

function entities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

function typeName(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}
