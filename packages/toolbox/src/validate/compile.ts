import type { ErrorObject, ValidateFunction } from "ajv"
import { ToolwrightError, messageOf } from "../model/errors.ts"
import type { JsonSchema } from "../model/schema.ts"

type Compiler = { compile(schema: object): ValidateFunction }

const compiled = new WeakMap<JsonSchema, ValidateFunction>()
const options = { allErrors: true, strict: false, validateFormats: false, verbose: true, logger: false } as const
let current: Compiler | undefined
let draft7: Compiler | undefined

/**
 * Checks a value against a JSON Schema, every error at once. Ajv is loaded at the first use, and each schema is
 * compiled once
 * (by identity).
 *
 * @returns the errors, none when the value is valid
 * @throws ToolwrightError `INVALID_SCHEMA` when the schema itself cannot be compiled
 */
export async function validate(schema: JsonSchema, value: unknown): Promise<ErrorObject[]> {
  const check = compiled.get(schema) ?? (await compile(schema))
  return check(value) ? [] : (check.errors ?? [])
}

/**
 * Compiles a schema, as draft-07 where it says so or where 2020-12 cannot read it (an imported schema may be either).
 */
async function compile(schema: JsonSchema): Promise<ValidateFunction> {
  const { $schema, $id: _id, ...document } = schema
  const older = typeof $schema === "string" && /draft-0[467]/.test($schema)
  let check: ValidateFunction
  try {
    check = (older ? await draft7Compiler() : await currentCompiler()).compile(document)
  } catch (cause) {
    check = await compileOtherwise(document, older, cause)
  }
  compiled.set(schema, check)
  return check
}

async function compileOtherwise(document: object, older: boolean, cause: unknown): Promise<ValidateFunction> {
  try {
    return (older ? await currentCompiler() : await draft7Compiler()).compile(document)
  } catch {
    throw new ToolwrightError("INVALID_SCHEMA", `The schema cannot be used: ${messageOf(cause)}`, { cause })
  }
}

async function currentCompiler(): Promise<Compiler> {
  if (current === undefined) {
    const { Ajv2020 } = await import("ajv/dist/2020.js")
    current ??= new Ajv2020(options)
  }
  return current
}

async function draft7Compiler(): Promise<Compiler> {
  if (draft7 === undefined) {
    const { Ajv } = await import("ajv")
    draft7 ??= new Ajv(options)
  }
  return draft7
}
