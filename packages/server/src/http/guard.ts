import { createHash, timingSafeEqual } from "node:crypto"
import type { Context, MiddlewareHandler } from "hono"
import type { AccessToken, ServerOptions } from "../options.ts"
import { problem } from "./problem.ts"

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"])

/** What later handlers know of a request. */
export interface RequestVariables {
  access: AccessToken | undefined
  /** The holder of the token as an opaque name; empty where no token is asked for: then nobody is told apart. */
  caller: string
}

/**
 * Lets a request in: its `Host` must be this machine's or an allowed one (a page that rebinds its name to the loopback
 * address has another), its `Origin`, when it has one, the server's own or an allowed one, and its token one that is
 * known. Holds on every route. `open` says which paths need no token.
 */
export function guard(
  options: ServerOptions,
  open: (path: string) => boolean,
): MiddlewareHandler<{ Variables: RequestVariables }> {
  const hosts = new Set([...LOOPBACK, ...(options.allowedHosts ?? [])])
  const origins = new Set(options.allowedOrigins ?? [])
  const anyOrigin = origins.has("*")
  const tokens: Known[] = (options.tokens ?? []).map((access) => {
    const digest = digestOf(access.token)
    return { access, digest, caller: digest.toString("base64url").slice(0, 22) }
  })
  return async (context, next) => {
    const host = context.req.header("host") ?? ""
    if (!hosts.has(host.replace(/:\d+$/, "").toLowerCase())) return hostNotAllowed(host)
    const origin = foreignOrigin(context.req.header("origin"), host)
    if (origin !== undefined && !anyOrigin && !origins.has(origin)) return originNotAllowed(origin)
    const cors = origin === undefined ? {} : corsHeaders(anyOrigin ? "*" : origin)
    if (context.req.method === "OPTIONS" && origin !== undefined)
      return new Response(null, { status: 204, headers: cors })
    if (tokens.length === 0) letIn(context, undefined)
    else {
      const known = accessOf(givenToken(context), tokens)
      if (known === undefined && !open(context.req.path)) return tokenNeeded(cors)
      letIn(context, known)
    }
    await next()
    for (const [name, value] of Object.entries(cors)) context.res.headers.set(name, value)
    return undefined
  }
}

function letIn(context: Context<{ Variables: RequestVariables }>, known: Known | undefined): void {
  context.set("access", known?.access)
  context.set("caller", known?.caller ?? "")
}

/** The origin of a page that is not the server's own. */
function foreignOrigin(origin: string | undefined, host: string): string | undefined {
  return origin === `http://${host}` || origin === `https://${host}` ? undefined : origin
}

/** The token as a header says it; clients of Anthropic have one of their own for it. */
function givenToken(context: Context): string | undefined {
  const key = context.req.header("x-api-key")
  return context.req.header("authorization") ?? (key === undefined ? undefined : `Bearer ${key}`)
}

function hostNotAllowed(host: string): Response {
  return problem({
    code: "HOST_NOT_ALLOWED",
    message: `Requests for the host '${host}' are not served.`,
    hint: "Name it with --allow-host.",
  })
}

function originNotAllowed(origin: string): Response {
  return problem({
    code: "ORIGIN_NOT_ALLOWED",
    message: `Pages of '${origin}' may not call this server.`,
    hint: "Name the origin with --allow-origin.",
  })
}

function tokenNeeded(cors: Record<string, string>): Response {
  return problem(
    {
      code: "UNAUTHORIZED",
      message: "A valid bearer token is needed.",
      hint: "Send the header 'Authorization: Bearer <token>'.",
    },
    { "www-authenticate": "Bearer", ...cors },
  )
}

/** What pages may send: our own headers, those of MCP, and what clients of OpenAI and Anthropic send from browsers. */
const ALLOWED_HEADERS = [
  "authorization, content-type, accept, cache-control, idempotency-key, last-event-id, user-agent, x-api-key",
  "x-routing-mode, x-toolwright-agent, x-toolwright-approved, x-toolwright-repair",
  "mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
  "openai-beta, openai-organization, openai-project, x-client-request-id",
  "anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access",
  "x-stainless-arch, x-stainless-async, x-stainless-custom-poll-interval, x-stainless-helper-method",
  "x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-poll-helper, x-stainless-read-timeout",
  "x-stainless-helper, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout",
]
const EXPOSED_HEADERS = [
  "x-routing-mode, x-toolwright-left-out, x-toolwright-max-tokens, x-toolwright-deferred-tools, mcp-session-id, " +
    "retry-after, retry-after-ms",
]

function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": ALLOWED_HEADERS.join(", "),
    "access-control-expose-headers": EXPOSED_HEADERS.join(", "),
    "access-control-max-age": "600",
    ...(origin === "*" ? {} : { vary: "origin" }),
  }
}

interface Known {
  access: AccessToken
  digest: Buffer
  caller: string
}

/** Every token is compared in constant time, and all of them, so that the answer's time says nothing. */
function accessOf(header: string | undefined, tokens: readonly Known[]): Known | undefined {
  const given = digestOf(/^Bearer\s+(.+)$/i.exec(header ?? "")?.[1]?.trim() ?? "")
  let found: Known | undefined
  for (const known of tokens) if (timingSafeEqual(known.digest, given)) found ??= known
  return found
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}
