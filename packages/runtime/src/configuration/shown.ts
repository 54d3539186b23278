import { createRedactor } from "@toolwright/host/text"
import { configuredSecrets, environmentSecrets, saysSecret } from "../secrets/values.ts"
import { mask } from "./mask.ts"
import { SETTINGS, type Configuration } from "./settings.ts"

/** Fields that hold a mapping of names to values, any of which may be a secret. */
const HOLDS_SECRETS: ReadonlySet<string> = new Set(["headers", "env"])
/** A name and what is given to it in one word of a command or an address. */
const GIVEN = /(?<![\w-])(-{0,2}[A-Za-z_][\w-]*)(=["']?)([^\s"'&]+)/g
/** What stands behind a flag, as a word of its own. */
const BEHIND_FLAG = /(?<=(?:^|\s)(--?[A-Za-z][\w-]*) ["']?)[^\s"']+/g
const FLAG = /^--?[A-Za-z]/
/** The user and the password of an address. */
const USER = /\/\/[^/\s]*@/g
/** What says where a secret comes from, and how it is meant, without being one. */
const VARIABLE = /\$\{(?:env:)?[A-Za-z_]\w*\}/g
const SCHEME = /^(?:basic|bearer|digest|token)\s+/i

/**
 * What may be shown of the values of settings: without keys, passwords and what is known to be a secret. Of what
 * servers are sent and started with, headers and variables are masked whatever their names say.
 */
export function shownSettings(
  configuration: Configuration,
  env: Readonly<Record<string, string | undefined>>,
): (key: string, value: unknown) => unknown {
  const redact = createRedactor([...environmentSecrets(env), ...configuredSecrets(configuration)])
  const plain = (text: string): string => {
    const joined = (whole: string, name: string, between: string, given: string): string =>
      saysSecret(name) ? `${name}${between}${masked(given)}` : whole
    const apart = (given: string, flag: string): string => (saysSecret(flag) ? masked(given) : given)
    return redact(text.replace(USER, "//••••@").replace(GIVEN, joined).replace(BEHIND_FLAG, apart))
  }
  const walk = (value: unknown, name: string, hidden: boolean): unknown => {
    if (Array.isArray(value)) return listed(value as unknown[], name, hidden)
    if (typeof value === "object" && value !== null) {
      const within = hidden || HOLDS_SECRETS.has(name)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, key, within)]))
    }
    const isText = typeof value === "string" || typeof value === "number"
    if (isText && (hidden || saysSecret(name))) return masked(String(value))
    return typeof value === "string" ? plain(value) : value
  }
  /** In a list of words the one behind a flag is what it is given. */
  const listed = (values: readonly unknown[], name: string, hidden: boolean): unknown[] =>
    values.map((value, at) => {
      const before = at === 0 ? undefined : values[at - 1]
      const isGiven = typeof before === "string" && FLAG.test(before) && saysSecret(before)
      return walk(value, name, hidden || isGiven)
    })
  return (key, value) => {
    const secret = SETTINGS.find((setting) => setting.key === key)?.secret === true
    return secret ? mask(String(value)) : walk(value, key.slice(key.lastIndexOf(".") + 1), false)
  }
}

/** A secret without most of it; what only names a variable stays, since that is what one looks for. */
function masked(text: string): string {
  const scheme = SCHEME.exec(text)?.[0] ?? ""
  const secret = text.slice(scheme.length)
  return secret.replace(VARIABLE, "").trim() === "" ? text : `${scheme}${mask(secret)}`
}
