import type { Hono } from "hono"
import type { RequestVariables } from "../http/guard.ts"
import type { PageSource } from "../http/sources.ts"

/** Of everything that belongs to the page: what it may load, and that it is nothing else than what it is sent as. */
const SAFE = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
}

/** Serves what the page is made of. It holds nothing secret; what the page shows, it asks for with a token. */
export function pageRoutes<Variables extends RequestVariables>(
  app: Hono<{ Variables: Variables }>,
  source: PageSource,
): void {
  app.get("/assets/:name", async (context) => {
    const file = await source.file(context.req.path.slice(1))
    if (file === undefined) return context.notFound()
    const compressed = (context.req.header("accept-encoding") ?? "").includes("gzip")
    return new Response(compressed ? file.gzip : file.bytes, {
      headers: {
        ...SAFE,
        "content-type": file.type,
        "content-security-policy": "default-src 'none'; sandbox",
        "cache-control": file.lasting ? "public, max-age=31536000, immutable" : "no-cache",
        vary: "accept-encoding",
        ...(compressed ? { "content-encoding": "gzip" } : {}),
      },
    })
  })
}

const decoder = new TextDecoder()

/** The page itself. Style sheets that its libraries make carry a number that is good for this answer alone. */
export async function frontPage(source: PageSource): Promise<Response | undefined> {
  const file = await source.file("index.html")
  if (file === undefined) return undefined
  const nonce = crypto.randomUUID().replaceAll("-", "")
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return new Response(decoder.decode(file.bytes).replaceAll("__NONCE__", nonce), {
    headers: {
      ...SAFE,
      "content-type": file.type,
      "content-security-policy": policy.join("; "),
      "cache-control": "no-store",
      vary: "accept",
    },
  })
}
