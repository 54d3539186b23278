import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { GuardedFetch, GuardedRequest, NetworkPolicy } from "./guarded-fetch.ts"

/** Where tools that use the network get it from: environment variables for keys, and guarded fetches. */
export interface NetworkHost {
  env(name: string): string | undefined
  /**
   * A guarded fetch that may also reach the origins of these URLs, which come from the configuration and never from a
   * model.
   * The machinery is loaded at the first request.
   */
  fetchFor(configuredUrls?: readonly (string | undefined)[]): GuardedFetch
}

/**
 * @param policy what every tool may reach
 * @param env where keys are looked up, `process.env` unless given; an empty value counts as absent
 */
export function createNetworkHost(
  policy: NetworkPolicy = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): NetworkHost {
  return {
    env: (name) => (env[name] === "" ? undefined : env[name]),
    fetchFor(configuredUrls = []) {
      const origins = configuredUrls.filter((url) => url !== undefined).map(originOf)
      let guarded: Promise<GuardedFetch> | undefined
      return async (url, request) => {
        guarded ??= import("./guarded-fetch.ts").then(({ createGuardedFetch }) =>
          createGuardedFetch({ ...policy, allowOrigins: [...(policy.allowOrigins ?? []), ...origins] }),
        )
        return (await guarded)(url, request)
      }
    },
  }
}

function originOf(url: string): string {
  if (!URL.canParse(url)) {
    throw new ToolwrightError("INVALID_CONFIG", `'${url}' in the configuration is no URL.`, {
      hint: "Write it whole: https://host/path",
    })
  }
  return new URL(url).origin
}

/** A service's answer, parsed. `value` is an empty object where the body was empty. */
export interface JsonAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  value: unknown
}

/**
 * Asks a service that speaks JSON.
 *
 * @throws NetworkError also `INVALID_RESPONSE` when the body of a successful answer is no JSON
 */
export async function requestJson(fetch: GuardedFetch, url: string, request: GuardedRequest): Promise<JsonAnswer> {
  const { NetworkError } = await import("./network-error.ts")
  const { status, headers, body } = await fetch(url, request)
  const text = new TextDecoder().decode(body)
  try {
    return { status, headers, value: text.trim() === "" ? {} : JSON.parse(text) }
  } catch (cause) {
    if (status >= 400) return { status, headers, value: { message: text.slice(0, 300) } }
    throw new NetworkError(
      "INVALID_RESPONSE",
      `${new URL(url).host} answered ${status} with something that is no JSON.`,
      {
        cause,
        retryable: true,
      },
    )
  }
}

/** A value as an object to read fields from; an empty one where it is none. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** A value as text; `undefined` where it is none. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** A text without the secrets that must not be in it, as they are and as URLs spell them. */
export function redact(text: string, secrets: readonly (string | undefined)[]): string {
  let clean = text
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 4) continue
    for (const spelling of new Set([secret, encodeURIComponent(secret)])) clean = clean.replaceAll(spelling, "***")
  }
  return clean
}
