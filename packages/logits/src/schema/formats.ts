/** The formats that are exact here, as patterns. Each names the document that its rule is from. */
import { memory } from "@toolwright/toolbox"
import type { Dfa } from "../automaton/dfa.ts"
import { compilePattern } from "../automaton/regex.ts"
import { parseRegex } from "../automaton/regex-syntax.ts"
import { writtenOf } from "../automaton/written.ts"
import type { StringSet } from "./types.ts"

const year = "[0-9]{4}"
const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
const fullDate = `(?:${year}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|${leapYear}-02-29)`
const clock = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
const offset = `(?:[zZ]|[+-]${clock})`
/**
 * Leap seconds are taken where they are plain to see: at the end of the day in UTC, written with the offset Z or 00:00.
 */
const fullTime = `(?:${clock}:[0-5][0-9](?:\\.[0-9]+)?${offset}|23:59:60(?:\\.[0-9]+)?(?:[zZ]|[+-]00:00))`
const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
const ipv4 = `${octet}(?:\\.${octet}){3}`
const group = "[0-9A-Fa-f]{1,4}"
const ipv6 = ipv6Pattern(`(?:${group}:${group}|${ipv4})`)
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
const hostname = `${label}(?:\\.${label})*`
const shortLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?"
const unreserved = "A-Za-z0-9._~\\-"
const subDelims = "!$&'()*+,;="
const percent = "%[0-9A-Fa-f]{2}"
const pathCharacter = `(?:[${unreserved}${subDelims}:@]|${percent})`
const address = `(?:(?:[${unreserved}${subDelims}:]|${percent})*@)?(?:\\[(?:${ipv6}|[vV][0-9A-Fa-f]+\\.[${unreserved}${subDelims}:]+)\\]|(?:[${unreserved}${subDelims}]|${percent})*)(?::[0-9]*)?`
const hierarchy = hierarchyOf(address)
const relative = relativeOf(address)
const tail = `(?:\\?(?:${pathCharacter}|[/?])*)?(?:#(?:${pathCharacter}|[/?])*)?`
/** An address that names its host. */
const named = `(?:(?:[${unreserved}${subDelims}:]|${percent})*@)?(?:[${unreserved}${subDelims}]|${percent})*(?::[0-9]*)?`
const uri = `[A-Za-z][A-Za-z0-9+.-]*:${hierarchy}${tail}`
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const quoted = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"'
const mailbox = `(?:${atom}(?:\\.${atom})*|${quoted})`
const pointer = "(?:/(?:[^/~]|~[01])*)*"
const span = durationPattern()

/**
 * Sources: RFC 3339 (dates, times, durations), 5321 (e-mail), 1123 (host names), 2673 and 4291 (addresses), 3986
 * (URIs), 6901 (pointers), 4122 (UUIDs).
 */
const sources: Record<string, string> = {
  date: fullDate,
  time: fullTime,
  "date-time": `${fullDate}[tT]${fullTime}`,
  duration: span,
  ipv4,
  ipv6,
  "ip-address": ipv4,
  hostname,
  "host-name": hostname,
  email: `${mailbox}@(?:${hostname}|\\[${ipv4}\\]|\\[IPv6:${ipv6}\\])`,
  uri,
  "uri-reference": `(?:${uri}|${relative}${tail})`,
  uuid: "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
  "json-pointer": pointer,
  "relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|${pointer})`,
}

/** Formats that JSON Schema defines and that no pattern of ours says exactly. */
const inexact = new Set(["idn-hostname", "idn-email", "iri", "iri-reference", "uri-template", "regex"])

/**
 * What a model is to write of a format where its rules are written out: mail addresses as people have them, host names
 * whose length no rule has to count.
 */
const common: Record<string, readonly string[]> = {
  email: [
    `${atom}(?:\\.${atom})*@${hostname}`,
    `[A-Za-z0-9_+-]{1,40}(?:\\.[A-Za-z0-9_+-]{1,20})?@${shortLabel}(?:\\.${shortLabel}){0,3}`,
  ],
  ipv6: [ipv6Pattern(`${group}:${group}`)],
  uri: [`[A-Za-z][A-Za-z0-9+.-]*:${hierarchyOf(named)}${tail}`],
  "uri-reference": [`(?:[A-Za-z][A-Za-z0-9+.-]*:${hierarchyOf(named)}|${relativeOf(named)})${tail}`],
  hostname: [`${label}(?:\\.${label}){0,2}|${shortLabel}(?:\\.${shortLabel}){0,7}`],
}

const languages = memory.latest<Dfa>(100)
const longest: Record<string, number> = { hostname: 253, "host-name": 253 }

/** Whether JSON Schema defines the format; others are annotations. */
export const isKnownFormat = (format: string): boolean => Object.hasOwn(sources, format) || inexact.has(format)

/** The texts of a format, or undefined where they cannot be said exactly. */
export function formatStrings(format: string): StringSet | undefined {
  const source = Object.hasOwn(sources, format) ? sources[format] : undefined
  if (source === undefined) return undefined
  const language = languages.get(format, () => languageOf(format, source))
  return { language, min: 0, max: longest[format] ?? Infinity }
}

function languageOf(format: string, source: string): Dfa {
  const language = compilePattern(`^(?:${source})$`)
  const forms = (common[format] ?? []).flatMap((form) => writtenOf(parseRegex(`^(?:${form})$`)) ?? [])
  return { ...language, written: [...forms, ...(language.written ?? [])] }
}

function hierarchyOf(authority: string): string {
  const rootless = `${pathCharacter}+(?:/${pathCharacter}*)*`
  return `(?://${authority}(?:/${pathCharacter}*)*|/(?:${rootless})?|${rootless}|)`
}

function relativeOf(authority: string): string {
  const rootless = `${pathCharacter}+(?:/${pathCharacter}*)*`
  const withoutColon = `(?:[${unreserved}${subDelims}@]|${percent})+(?:/${pathCharacter}*)*`
  return `(?://${authority}(?:/${pathCharacter}*)*|/(?:${rootless})?|${withoutColon}|)`
}

/** @param last its last four bytes */
function ipv6Pattern(last: string): string {
  const options = [`(?:${group}:){6}${last}`, `::(?:${group}:){5}${last}`]
  for (let before = 1; before <= 5; before++) {
    options.push(
      `(?:(?:${group}:){0,${before - 1}}${group})?::${before === 5 ? "" : `(?:${group}:){${5 - before}}`}${last}`,
    )
  }
  options.push(`(?:(?:${group}:){0,5}${group})?::${group}`, `(?:(?:${group}:){0,6}${group})?::`)
  return `(?:${options.join("|")})`
}

function durationPattern(): string {
  const number = (unit: string): string => `[0-9]+${unit}`
  const chain = (units: string[]): string =>
    units.reduceRight((rest, unit) => `${number(unit)}${rest === "" ? "" : `(?:${rest})?`}`, "")
  const starts = (units: string[]): string => `(?:${units.map((_, index) => chain(units.slice(index))).join("|")})`
  const time = `T${starts(["H", "M", "S"])}`
  return `P(?:${starts(["Y", "M", "D"])}(?:${time})?|${time}|[0-9]+W)`
}
