import { lstatSync, type Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { readStateFile } from "@toolwright/host/state-files"
import { messageOf, nearest, ToolwrightError } from "@toolwright/toolbox/errors"
import { SETTINGS } from "./settings.ts"
import type { Setting } from "./setting.ts"
import { checkValue } from "./value.ts"
import { placeOfOthers } from "./keys-of-others.ts"
import { placeOfTools } from "../own-tools/entries.ts"

export const CONFIGURATION_FILE = "toolwright.yaml"

/** What a file says: values by key. */
export interface FileSettings {
  path: string
  values: Map<string, unknown>
  /** The file as it was read. */
  content: Uint8Array
}

/** Far more than anybody writes. The parser takes time with the square of what is hostile: a second of this much. */
const LARGEST_BYTES = 64 * 1024
const MOST_VALUES = 20_000

/**
 * The nearest `toolwright.yaml`, in the folder or in one above it. What has that name and is no plain file is passed
 * over: a link leads elsewhere, and a pipe would be waited for without end. So is one that is too large to be read: a
 * folder from elsewhere must not stop every command in it.
 *
 * @param passed is told of each that is passed over
 * @param isOwn whether the user has trusted what stood there: then it is found whatever its size, and refused aloud,
 *   since what it takes away would be gone without a word
 */
export function findConfigurationFile(
  cwd: string,
  passed: (path: string, reason: string) => void = () => {},
  isOwn: (path: string) => boolean = () => false,
): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, CONFIGURATION_FILE)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() === true && (stat.size <= LARGEST_BYTES || isOwn(path))) return path
    if (stat !== undefined) passed(path, whyNot(stat))
    if (dirname(folder) === folder) return undefined
  }
}

function whyNot(stat: Stats): string {
  if (stat.isFile()) return `it is larger than ${LARGEST_BYTES / 1024} KB`
  return stat.isSymbolicLink() ? "it is a link" : "it is no regular file"
}

/**
 * Reads a configuration file. Every mistake in it is reported at once, with its line and the right spelling where there
 * is one.
 *
 * @param named whether the user named it, who may then name a link
 * @throws ToolwrightError `INVALID_CONFIGURATION`
 */
export async function readConfigurationFile(path: string, named = false): Promise<FileSettings> {
  let content: Uint8Array
  let text: string
  try {
    const read = readStateFile(path, { limit: LARGEST_BYTES, follow: named })
    if (read === undefined) throw new Error("there is no such file")
    content = read
    text = new TextDecoder("utf-8", { fatal: true }).decode(content)
  } catch (cause) {
    throw new ToolwrightError(
      "INVALID_CONFIGURATION",
      `The configuration file ${path} cannot be read: ${messageOf(cause)}`,
      { cause },
    )
  }
  const { LineCounter, parseDocument, isMap, isScalar } = await import("yaml")
  const lines = new LineCounter()
  const document = parsed(() => parseDocument(text, { lineCounter: lines, prettyErrors: false }))
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
        const plain = plainOf(value, document)
        if (plain === null) continue
        const read = checkValue(setting, plain)
        if ("wrong" in read) mistakes.push(`line ${line}: '${name}' ${read.wrong}.`)
        else values.set(name, placed(setting, read.value, dirname(path)))
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
        hint: "'toolwright help settings' lists the settings.",
      },
    )
  }
  return { path, values, content }
}

/** A node's value. Aliases may multiply it: what nobody would write out is refused before anything walks through it. */
function plainOf(node: unknown, document: unknown): unknown {
  return parsed(() => {
    const plain: unknown = (node as { toJS?(document: unknown): unknown } | null)?.toJS?.(document) ?? null
    if (countUpTo(MOST_VALUES, plain) >= MOST_VALUES) throw new Error(`a setting holds more than ${MOST_VALUES} values`)
    return plain
  })
}

/** How many values stand in a value, as far as a limit. */
function countUpTo(limit: number, value: unknown): number {
  if (typeof value !== "object" || value === null) return 1
  let count = 1
  for (const inner of Object.values(value)) {
    if (count >= limit) break
    count += countUpTo(limit - count, inner)
  }
  return count
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse()
  } catch (thrown) {
    throw new ToolwrightError("INVALID_CONFIGURATION", `The configuration cannot be read: ${messageOf(thrown)}`, {
      cause: thrown,
    })
  }
}

/**
 * What a file names is found from its own folder, whichever folder below it a command is started in: a file that is
 * trusted would otherwise start what lies in a folder that is not.
 */
function placed(setting: Setting, value: unknown, folder: string): unknown {
  if (setting.key === "tools") return (value as string[]).map((entry) => placeOfTools(entry, folder))
  if (setting.path === true) {
    const found = (each: unknown) => (isAddress(each as string) ? (each as string) : resolve(folder, each as string))
    return Array.isArray(value) ? value.map(found) : found(value)
  }
  if (setting.key !== "mcp.servers") return value
  return Object.fromEntries(
    Object.entries(value as object).map(([name, server]: [string, unknown]) => {
      if (typeof server !== "object" || server === null || !("command" in server)) return [name, server]
      const { cwd } = server as { cwd?: unknown }
      return [name, { ...server, cwd: typeof cwd === "string" ? resolve(folder, cwd) : folder }]
    }),
  )
}

/** Of a database on a server; everything else that stands where a path may is one. */
function isAddress(value: string): boolean {
  return /^postgres(ql)?:\/\//.test(value)
}

function suggestion(name: string, prefix: string): string {
  const elsewhere = placeOfOthers(name)
  if (elsewhere !== undefined) return ` ${elsewhere}`
  const depth = prefix.split(".").length
  const siblings = new Set(
    SETTINGS.filter(({ key }) => key.startsWith(prefix)).map(({ key }) => key.split(".").slice(0, depth).join(".")),
  )
  const close =
    nearest(name, siblings)[0] ?? SETTINGS.find(({ key }) => key.endsWith(`.${name.split(".").at(-1)}`))?.key
  return close === undefined ? ` Known here: ${[...siblings].join(", ")}.` : ` Did you mean '${close}'?`
}
