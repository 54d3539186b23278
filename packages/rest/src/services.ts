import { ToolwrightError, type AttachOptions } from "@toolwright/toolbox"
import { ToolsApiClient } from "./client.ts"

/** A REST tools service of a configuration, with what of its tools is wanted. */
export interface RestService extends AttachOptions {
  readonly name: string
  readonly url: string
  readonly token?: string
  readonly enabled: boolean
  /** Whether a start without it fails. */
  readonly required: boolean
  /** Whether it may tell of its tools otherwise than when they were let in. */
  readonly acceptChanges?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

const TEXTS = ["url", "token", "tokenEnv", "prefix"] as const
const LISTS = ["allow", "deny", "tags", "sets", "keyed", "idempotent"] as const
const KNOWN = new Set<string>([...TEXTS, ...LISTS, "enabled", "required", "acceptChanges", "rename"])

/**
 * Reads services by name: `url`, and `token` or `tokenEnv`, `enabled`, `required`, `acceptChanges`, `prefix`, `rename`,
 * `allow`, `deny`, `tags`, `sets`, `keyed`, `idempotent`. An address alone will do in place of a mapping.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`, naming the service and what is wrong
 */
export function readRestServices(value: unknown, env: Environment, source = "sources.rest"): RestService[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrong(source, "must be a mapping of services by name")
  return Object.entries(value).map(([name, given]: [string, unknown]) => {
    const entry = typeof given === "string" ? { url: given } : given
    if (typeof entry !== "object" || entry === null) throw wrong(source, `'${name}' must be an address or a mapping`)
    const { tokenEnv, token = env[String(tokenEnv)], ...rest } = checked(entry as Record<string, unknown>, name, source)
    return {
      ...(rest as Partial<RestService>),
      name,
      url: String(rest.url),
      enabled: rest.enabled !== false,
      required: rest.required === true,
      ...(typeof token !== "string" || token === "" ? {} : { token }),
    }
  })
}

function checked(entry: Record<string, unknown>, name: string, source: string): Record<string, unknown> {
  const unknown = Object.keys(entry).find((key) => !KNOWN.has(key))
  if (unknown !== undefined) throw wrong(source, `'${name}' has '${unknown}'; known are ${[...KNOWN].join(", ")}`)
  for (const key of TEXTS)
    if (entry[key] !== undefined && typeof entry[key] !== "string")
      throw wrong(source, `'${name}.${key}' must be a text`)
  for (const key of LISTS)
    if (entry[key] !== undefined && !Array.isArray(entry[key])) throw wrong(source, `'${name}.${key}' must be a list`)
  if (entry.url === undefined) throw wrong(source, `'${name}' needs a 'url'`)
  return entry
}

/**
 * A service named on a command line or by a variable: an address, `name=` before it names it. Its token is
 * `TOOLS_API_TOKEN` where the address is that of `TOOLS_API_URL`: a token goes to its own service only.
 */
export function parseRestService(text: string, env: Environment): RestService {
  const named = /^([A-Za-z][\w-]*)=(.+)$/s.exec(text.trim())
  const url = named?.[2] ?? text.trim()
  const address = URL.parse(url)
  const isOwn = address !== null && address.origin === URL.parse(withoutName(env.TOOLS_API_URL ?? ""))?.origin
  const token = isOwn ? env.TOOLS_API_TOKEN : undefined
  return {
    name: named?.[1] ?? address?.host ?? url,
    url,
    enabled: true,
    required: false,
    ...(token === undefined || token === "" ? {} : { token }),
  }
}

function withoutName(text: string): string {
  return text.trim().replace(/^[A-Za-z][\w-]*=/, "")
}

/** The client of a service. @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none */
export function clientOf({ name, url, token }: RestService): ToolsApiClient {
  return new ToolsApiClient({ baseUrl: url, name, ...(token === undefined ? {} : { token }) })
}

function wrong(source: string, what: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `${source}: ${what}.`, {
    hint: "For example sources: { rest: { tools-api: { url: http://localhost:8001, tokenEnv: TOOLS_API_TOKEN } } }",
  })
}
