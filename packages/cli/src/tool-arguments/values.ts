import type { JsonObject } from "@toolwright/toolbox"
import { usageError } from "../options.ts"
import type { Parameter, ParameterKind } from "./parameters.ts"

/**
 * The arguments of a call from its flags. What cannot be what the schema says is passed on as text: the tool's own
 * validation names it better.
 *
 * @param given texts by flag, several where a flag was repeated; true or false for flags without a value
 */
export function argumentsFrom(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, readonly (string | boolean)[]>>,
): JsonObject {
  const args: JsonObject = {}
  for (const parameter of parameters) {
    const texts = given[parameter.flag]
    if (texts === undefined) continue
    args[parameter.name] = valueOf(parameter, texts)
  }
  return args
}

function valueOf(parameter: Parameter, texts: readonly (string | boolean)[]): unknown {
  if (parameter.kind === "array") {
    const [only] = texts
    const whole =
      texts.length === 1 && typeof only === "string" && only.trimStart().startsWith("[") ? json(only) : undefined
    return Array.isArray(whole) ? whole : texts.map((text) => read(text, parameter.items ?? "any", parameter.flag))
  }
  if (texts.length > 1)
    throw usageError(`Option '--${parameter.flag}' is given ${texts.length} times, but takes one value.`)
  return read(texts[0]!, parameter.kind, parameter.flag)
}

function read(text: string | boolean, kind: ParameterKind, flag: string): unknown {
  if (typeof text === "boolean") return text
  switch (kind) {
    case "string":
      return text
    case "number": {
      const number = Number(text)
      return text.trim() === "" || Number.isNaN(number) ? text : number
    }
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text
    case "any":
      return json(text) ?? text
    default: {
      const value = json(text)
      if (value === undefined)
        throw usageError(
          `Option '--${flag}' takes JSON, but this is none: ${text}`,
          `Write e.g. --${flag} '{"key": "value"}'.`,
        )
      return value
    }
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * Arguments as one JSON object: `{…}`, `-` for standard input, `@file`.
 *
 * @throws ToolwrightError `USAGE` when it is no JSON object
 */
export function argumentsObject(text: string, from: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(
      `The arguments from ${from} are no JSON: ${(error as Error).message}`,
      `Give an object such as '{"path": "src"}'.`,
    )
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw usageError(
      `The arguments from ${from} must be a JSON object, but are ${Array.isArray(value) ? "an array" : typeof value}.`,
    )
  }
  return value as JsonObject
}
