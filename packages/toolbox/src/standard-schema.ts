import { ToolwrightError } from "./model/errors.ts"
import type { JsonSchema } from "./model/schema.ts"

/**
 * The part of the Standard Schema specification (https://standardschema.dev) that is used here: validation, and the
 * JSON Schema extension that Zod 4.2, ArkType and Valibot implement.
 */
export interface StandardSchema<Input = unknown, Output = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardOutcome<Output> | Promise<StandardOutcome<Output>>
    readonly jsonSchema?: {
      readonly input: (options: { target: string }) => Record<string, unknown>
      readonly output: (options: { target: string }) => Record<string, unknown>
    }
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type StandardOutcome<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{
        readonly message: string
        readonly path?: ReadonlyArray<PropertyKey | { key: PropertyKey }> | undefined
      }>
    }

/** Whether a value is a Standard Schema rather than a JSON Schema document. */
export function isStandardSchema(value: unknown): value is StandardSchema<unknown, never> {
  return value !== null && (typeof value === "object" || typeof value === "function") && "~standard" in value
}

/**
 * The JSON Schema of either form. A document is returned as it is; its keyword order is kept.
 *
 * @param side which side of a transforming schema: what a caller sends (`input`), or what comes out (`output`)
 * @throws ToolwrightError `INVALID_TOOL` when the Standard Schema cannot yield JSON Schema
 */
export function toJsonSchema(
  schema: JsonSchema | StandardSchema<unknown, never> | StandardSchema,
  side: "input" | "output",
): JsonSchema {
  if (!isStandardSchema(schema)) return schema as JsonSchema
  const standard = schema["~standard"]
  const convert = standard.jsonSchema?.[side]
  if (convert === undefined) {
    throw new ToolwrightError(
      "INVALID_TOOL",
      `A ${standard.vendor} schema of this version does not yield JSON Schema.`,
      {
        hint:
          "Use a version that implements the JSON Schema part of Standard Schema (Zod 4.2 or newer), or pass " +
          "JSON Schema.",
      },
    )
  }
  const { $schema: _dialect, ...document } = converted(convert, standard.vendor)
  return document as JsonSchema
}

/** What a library says of a value that JSON has not is said as what is wrong with the tool. */
function converted(convert: (options: { target: string }) => Record<string, unknown>, vendor: string) {
  try {
    return convert({ target: "draft-2020-12" })
  } catch (cause) {
    throw new ToolwrightError(
      "INVALID_TOOL",
      `This ${vendor} schema is none of JSON: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        cause,
        hint: "Name what JSON has: a text for a date (z.iso.datetime()), a list for a set, an object for a map.",
      },
    )
  }
}

/** Parses a value; throws a {@link ToolwrightError} `INVALID_ARGUMENTS` that lists every issue with its path. */
export async function parseWith<Output>(schema: StandardSchema<unknown, Output>, value: unknown): Promise<Output> {
  const outcome = await schema["~standard"].validate(value)
  if (outcome.issues === undefined) return outcome.value
  const lines = outcome.issues.map(({ message, path }) => {
    const keys = (path ?? []).map((key) => String(typeof key === "object" ? key.key : key))
    return keys.length === 0 ? message : `${keys.join(".")}: ${message}`
  })
  throw new ToolwrightError("INVALID_ARGUMENTS", lines.join("; "))
}
