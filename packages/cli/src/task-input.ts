import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { RunOptions } from "@toolwright/runtime"
import { messageOf, type JsonSchema } from "@toolwright/toolbox"
import type { Invocation } from "./command.ts"
import { usageError } from "./options.ts"

/**
 * The task in words: an argument, an option, or with `-` what standard input holds.
 *
 * @throws ToolwrightError `USAGE` where it is missing, or given twice
 */
export async function taskFrom(
  invocation: Invocation,
  option: string | undefined,
  positional: string | undefined,
): Promise<string> {
  if (option !== undefined && positional !== undefined) {
    throw usageError("The task is given twice.", "Give it either as an argument or with --description.")
  }
  let task = option ?? positional
  if (task === "-") {
    task = ""
    const decoder = new TextDecoder()
    for await (const piece of invocation.stdin)
      task += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
  }
  if (task === undefined || task.trim() === "") {
    throw usageError(
      "The task is missing.",
      'Say what is to be done, in quotes, after the command: "make the failing test pass". With - it is read ' +
        "from standard input.",
    )
  }
  return task.trim()
}

/** Options that say what is asked, and how the answer has to be. */
export interface AskedFor {
  image?: string[]
  "no-tools"?: boolean
  "output-schema"?: string
}

/** @throws ToolwrightError `USAGE` for a schema that cannot be read */
export async function askedFor({ cwd }: Invocation, values: AskedFor): Promise<Partial<RunOptions>> {
  const { image, "no-tools": plain = false, "output-schema": file } = values
  return {
    ...(image === undefined ? {} : { media: image.map((path) => ({ type: "image" as const, path })) }),
    ...(plain ? { tools: [] } : {}),
    ...(file === undefined ? {} : { output: await schemaFrom(resolve(cwd, file)) }),
  }
}

async function schemaFrom(path: string): Promise<JsonSchema> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (thrown) {
    throw usageError(`--output-schema names a file that cannot be read: ${messageOf(thrown)}`)
  }
  try {
    const schema: unknown = JSON.parse(text)
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as JsonSchema
  } catch (thrown) {
    throw usageError(`${path} is no JSON: ${messageOf(thrown)}`)
  }
  throw usageError(`${path} holds no JSON Schema: that is an object such as {"type": "object", "properties": {…}}.`)
}
