import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import type { PocketCall } from "./call.ts"
import { EDITING_TOOL } from "./tools.ts"

/** A change of a part of a file, and whether no word of the request can be meant otherwise. */
export interface PlainChange {
  readonly call: PocketCall
  readonly literal: boolean
}

/** Files that are larger are for a model that can read them. */
const LARGEST = 256 * 1024
const VALUE = "(?:\"(?<double>[^\"]*)\"|'(?<single>[^']*)'|(?<bare>[^\\s\"'`]+?))"
const KEY = "(?:the )?(?:value of )?[\"'`]?(?<key>[A-Za-z_][\\w.-]*)[\"'`]?"
const FILE = "(?:the )?(?:file )?(?<path>[\\w.-][\\w./-]*\\w)"
const SETTINGS = [
  `^(?<verb>set|change|update) ${KEY} (?:in|of) ${FILE} to ${VALUE}[.!]?$`,
  `^(?<verb>set|change|update) ${KEY} to ${VALUE} (?:in|of) ${FILE}[.!]?$`,
].map((pattern) => new RegExp(pattern, "i"))
const LINE = "(?:\"(?<double>[^\"]+)\"|'(?<single>[^']+)'|`(?<back>[^`]+)`|(?<bare>[\\w-]+(?: [\\w-]+){0,3}?))"
const REMOVAL = new RegExp(`^(?:remove|delete) (?:the )?(?:line )?${LINE} from ${FILE}[.!]?$`, "i")
/** What is a value of its own kind, so that nobody can mean another name by it. */
const CONSTANT = /^(?:-?\d[\d.]*|true|false|null|yes|no|on|off)$/i

/** What needs no quotes in any of the forms that settings are written in. */
const PLAIN = /^[A-Za-z][\w./+-]*$/

/** What a request to set a value by its name asks for. */
interface Setting {
  readonly key: string
  readonly value: string
  readonly path: string
  /** A name could not be meant to be replaced by another one. */
  readonly isValue: boolean
}

function settingIn(request: string): Setting | undefined {
  for (const pattern of SETTINGS) {
    const { verb = "", key, path, double, single, bare } = pattern.exec(request)?.groups ?? {}
    const value = double ?? single ?? bare
    if (key === undefined || path === undefined || value === undefined) continue
    return { key, path, value, isValue: verb.toLowerCase() === "set" || CONSTANT.test(value) }
  }
  return undefined
}

/**
 * A change that the model has no way to write, since it knows no text of the file: the value of a setting, or a line
 * that goes. Only where the file has the one place that is meant.
 */
export function plainChange(request: string, root: string): PlainChange | undefined {
  const setting = settingIn(request)
  if (setting === undefined) return removal(request, root)
  const text = textOf(root, setting.path)
  const found = text === undefined ? [] : placesOf(setting.key, text)
  if (found.length !== 1) return undefined
  const [place] = found as [Place]
  const next = written(setting.value, place.value)
  if (next === undefined || next === place.value) return undefined
  const edit = { old_text: place.name + place.value, new_text: place.name + next }
  if (text!.split(edit.old_text).length !== 2) return undefined
  return { call: { name: EDITING_TOOL, arguments: { path: setting.path, ...edit } }, literal: setting.isValue }
}

/** Whether a call would write a value over the name that it is the value of. */
export function losesName(request: string, { name, arguments: args }: PocketCall): boolean {
  if (name !== EDITING_TOOL) return false
  const setting = settingIn(request.trim().replace(/^please /i, ""))
  return setting?.isValue === true && args["old_text"] === setting.key
}

interface Place {
  /** The name with what stands between it and the value. */
  readonly name: string
  readonly value: string
}

/** Where a text gives a name a value: `"name": 1`, `name: 1`, `name = 1`. */
function placesOf(key: string, text: string): Place[] {
  const name = key.replaceAll(/[.-]/g, "\\$&")
  const value = "\"[^\"\\n]*\"|'[^'\\n]*'|[^\\s\"',;{}[\\]#]+"
  const ofJson = new RegExp(`(?<name>"${name}"[ \\t]*:[ \\t]*)(?<value>${value})`, "gi")
  const ofLines = new RegExp(
    `^[ \\t]*(?:export |const |let )?(?<name>${name}[ \\t]*[:=][ \\t]*)(?<value>${value})[ \\t]*;?[ \\t]*(?:#.*)?$`,
    "gim",
  )
  return [ofJson, ofLines]
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ groups }) => ({ name: groups!["name"]!, value: groups!["value"]! }))
}

/** The new value as the old one is written; nothing where the old one is of another kind. */
function written(value: string, old: string): string | undefined {
  const quote = /^["']/.exec(old)?.[0]
  if (quote === undefined) return CONSTANT.test(value) || (!CONSTANT.test(old) && PLAIN.test(value)) ? value : undefined
  return value.includes(quote) || value.includes("\\") ? undefined : `${quote}${value}${quote}`
}

function removal(request: string, root: string): PlainChange | undefined {
  const { path, double, single, back, bare } = REMOVAL.exec(request)?.groups ?? {}
  const line = double ?? single ?? back ?? bare
  const text = path === undefined ? undefined : textOf(root, path)
  if (text === undefined || line === undefined || !text.endsWith("\n")) return undefined
  const lines = text.split("\n").filter((each) => each === line)
  const edit = { old_text: `${line}\n`, new_text: "" }
  // As a part of another line it would go there.
  if (lines.length !== 1 || text.split(edit.old_text).length !== 2) return undefined
  return { call: { name: EDITING_TOOL, arguments: { path, ...edit } }, literal: false }
}

function textOf(root: string, path: string): string | undefined {
  try {
    const file = join(root, path)
    const stat = statSync(file)
    return stat.isFile() && stat.size <= LARGEST ? readFileSync(file, "utf8") : undefined
  } catch {
    return undefined
  }
}
