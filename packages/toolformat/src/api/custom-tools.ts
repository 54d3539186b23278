/** OpenAI's custom tools: tools of one text, which a grammar may hold. */
import { asCustomFormat, textGrammar } from "@toolwright/logits"
import {
  messageOf,
  TEXT_ARGUMENT,
  textInputOf,
  textParameters,
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
} from "@toolwright/toolbox"
import type { OpenAITool } from "../model/message.ts"
import { asObject, asString, field } from "./json.ts"

/** The custom tool that a tool is, in the flat form of the Responses API; nothing for a tool that takes arguments. */
export function customToolOf({ function: { name, description, parameters } }: OpenAITool): JsonObject | undefined {
  const input = textInputOf(parameters)
  if (input === undefined) return undefined
  const format = asCustomFormat(input)
  return {
    name,
    description: description ?? "",
    ...(format === undefined ? {} : { format: { type: "grammar", ...format } }),
  }
}

/** The names of the tools that take a text. */
export function customNames(tools: readonly OpenAITool[]): ReadonlySet<string> {
  return new Set(tools.filter((tool) => textInputOf(tool.function.parameters) !== undefined).map(nameOf))
}

const nameOf = (tool: OpenAITool): string => tool.function.name

/**
 * The parameters of a custom tool as a client sends one: its grammar, in the flat form or under `grammar`.
 *
 * @throws ToolwrightError `INVALID_TOOLS` that names the tool, where its grammar cannot be read
 */
export function customParameters(name: string, format: unknown): JsonSchema {
  const given = asObject(field(format, "grammar")) ?? asObject(format)
  const definition = asString(given?.definition)
  if (definition === undefined) return textParameters(textGrammar("text", ""))
  const { syntax } = given ?? {}
  if (syntax !== "lark" && syntax !== "regex")
    throw new ToolwrightError(
      "INVALID_TOOLS",
      `The grammar of tool '${name}' has the syntax ${JSON.stringify(syntax)}.`,
      {
        hint: 'The syntax of a custom tool is "lark" or "regex".',
      },
    )
  try {
    return textParameters(textGrammar(syntax, definition))
  } catch (thrown) {
    throw new ToolwrightError("INVALID_TOOLS", `The grammar of tool '${name}' cannot be read: ${messageOf(thrown)}`, {
      cause: thrown,
    })
  }
}

/** The text of a call as the JSON of its arguments, piece by piece as it comes. */
export const CUSTOM_OPEN = `{${JSON.stringify(TEXT_ARGUMENT)}:"`
export const CUSTOM_CLOSE = '"}'
export const customPiece = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The text of a call of a tool that takes one. */
export function textOfCall({ arguments: args }: { arguments: JsonObject }): string {
  const text = args[TEXT_ARGUMENT]
  return typeof text === "string" ? text : JSON.stringify(args)
}
