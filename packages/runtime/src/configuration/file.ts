import { readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { messageOf, nearest, ToolwrightError } from "@toolwright/toolbox"
import { SETTINGS } from "./settings.ts"
import { checkValue } from "./value.ts"

export const CONFIGURATION_FILE = "toolwright.yaml"

/** What a file says: values by key. */
export interface FileSettings {
  path: string
  values: Map<string, unknown>
}

/** The nearest `toolwright.yaml`, in the folder or in one above it. */
export function findConfigurationFile(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, CONFIGURATION_FILE)
    // A pipe of that name would be waited for without end.
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO() === false) return path
    if (dirname(folder) === folder) return undefined
  }
}

/**
 * Reads a configuration file. Every mistake in it is reported at once, with its line and the right spelling where there
 * is one.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`
 */
export async function readConfigurationFile(path: string): Promise<FileSettings> {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    throw new ToolwrightError(
      "INVALID_CONFIGURATION",
      `The configuration file ${path} cannot be read: ${messageOf(cause)}`,
      { cause },
    )
  }
  const { LineCounter, parseDocument, isMap, isScalar } = await import("yaml")
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const mistakes = document.errors.map(
    (error) => `line ${lines.linePos(error.pos[0]).line}: ${error.message.split("\n")[0] ?? error.message}`,
  )
  const values = new Map<string, unknown>()

  const walk = (node: unknown, prefix: string): void => {
    if (!isMap(node)) {
      const where = prefix === "" ? "The file" : `'${prefix.slice(0, -1)}'`
      if (node !== null) mistakes.push(`${where} must be a mapping of settings.`)
      return
    }
    for (const { key, value } of node.items) {
      const name = prefix + String(isScalar(key) ? key.value : key)
      const line = isScalar(key) && key.range ? lines.linePos(key.range[0]).line : 1
      const setting = SETTINGS.find((candidate) => candidate.key === name)
      if (setting !== undefined) {
        const plain: unknown = (value as { toJS?(document: unknown): unknown } | null)?.toJS?.(document) ?? null
        if (plain === null) continue
        const read = checkValue(setting, plain)
        if ("wrong" in read) mistakes.push(`line ${line}: '${name}' ${read.wrong}.`)
        else values.set(name, read.value)
      } else if (SETTINGS.some((candidate) => candidate.key.startsWith(`${name}.`))) {
        walk(value, `${name}.`)
      } else {
        mistakes.push(`line ${line}: there is no setting '${name}'.${suggestion(name, prefix)}`)
      }
    }
  }
  if (mistakes.length === 0) walk(document.contents, "")
  if (mistakes.length > 0) {
    throw new ToolwrightError(
      "INVALID_CONFIGURATION",
      `${path}:\n${mistakes.map((mistake) => `- ${mistake}`).join("\n")}`,
      {
        hint: "'toolwright config --help' lists the settings.",
      },
    )
  }
  return { path, values }
}

function suggestion(name: string, prefix: string): string {
  const depth = prefix.split(".").length
  const siblings = new Set(
    SETTINGS.filter(({ key }) => key.startsWith(prefix)).map(({ key }) => key.split(".").slice(0, depth).join(".")),
  )
  const close =
    nearest(name, siblings)[0] ?? SETTINGS.find(({ key }) => key.endsWith(`.${name.split(".").at(-1)}`))?.key
  return close === undefined ? ` Known here: ${[...siblings].join(", ")}.` : ` Did you mean '${close}'?`
}
