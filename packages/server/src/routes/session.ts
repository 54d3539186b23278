import { createHash, timingSafeEqual } from "node:crypto"
import type { Hono } from "hono"
import { readJson } from "../http/body.ts"
import type { RequestVariables } from "../http/guard.ts"
import { problem } from "../http/problem.ts"
import type { OneTimeCode } from "../http/sources.ts"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** `POST /session` with `{ code }` gives the token, to whoever comes first. */
export function sessionRoute<Variables extends RequestVariables>(
  app: Hono<{ Variables: Variables }>,
  { code, token }: OneTimeCode,
): void {
  let used = false
  app.post("/session", async (context) => {
    const body = await readJson(context, { maxBytes: 1024, timeoutMs: 5000 })
    if ("refused" in body) return body.refused
    const given = (body.value as { code?: unknown } | null)?.code
    if (used || typeof given !== "string" || !timingSafeEqual(digest(given), digest(code)))
      return problem({
        code: "UNAUTHORIZED",
        message: "This code was used, or is none of this server.",
        hint: "Run 'toolwright ui' again.",
      })
    used = true
    return context.json({ token }, 200, { "cache-control": "no-store" })
  })
}
