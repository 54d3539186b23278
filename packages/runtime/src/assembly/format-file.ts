import { statSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { formatterOf, type Format } from "@toolwright/toolformat"

/** Largest module that is loaded; a format is a few dozen lines. */
const LARGEST_BYTES = 16 * 1024 * 1024

/**
 * The format that a module of the user's exports.
 *
 * @param file an absolute path
 * @throws ToolwrightError `INVALID_CONFIGURATION` where it cannot be loaded, or exports not exactly one format
 */
export async function loadFormat(file: string): Promise<Format> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw unusable(file, "there is no such file", "'toolwright new format <name>' makes one.")
  // Node would wait for a pipe that nobody writes to, and read a device without end.
  if (!found.isFile() || found.size > LARGEST_BYTES)
    throw unusable(file, found.isFile() ? `it has more than ${LARGEST_BYTES} bytes` : "it is no regular file")
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw unusable(file, messageOf(cause))
  }
  const [format, ...others] = new Set(Object.values(module).filter(isFormat))
  if (format === undefined || others.length > 0) {
    const what = format === undefined ? "exports no format" : `exports ${others.length + 1} formats`
    throw unusable(file, `it ${what}`, "It exports one object with id, title, calls, ids, stop, prompt and result.")
  }
  try {
    formatterOf(format).printCalls([{ id: "call_0", name: "tool_name", arguments: { param: "value" } }])
  } catch (cause) {
    throw unusable(file, `its format cannot print a call: ${messageOf(cause)}`, "docs/adding-a-format.md describes it.")
  }
  return format
}

function isFormat(value: unknown): value is Format {
  const { id, calls, prompt, result } = (value ?? {}) as Partial<Format>
  return typeof id === "string" && Array.isArray(calls) && typeof prompt === "function" && typeof result === "function"
}

function unusable(file: string, why: string, hint?: string): ToolwrightError {
  const message = `The format in ${file} cannot be loaded: ${why}.`
  return new ToolwrightError("INVALID_CONFIGURATION", message, hint === undefined ? {} : { hint })
}
