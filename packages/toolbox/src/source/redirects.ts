import { traced } from "../trace-context.ts"

/** Redirects that are followed in a row. */
export const MOST_REDIRECTS = 3

/**
 * A `fetch` that follows redirects to the same origin only: what is sent to a server, arguments and keys in headers of
 * any name, goes to nobody else because that server says so. One to elsewhere is the answer itself.
 */
export function withinOrigin(fetcher: typeof fetch): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    let address = String(url)
    for (let followed = 0; ; followed++) {
      const response = await fetcher(address, { ...traced(init), redirect: "manual" })
      const { status, headers } = response
      const target = redirectWithin({ status, location: headers.get("location") }, address, init?.method)
      if (target === undefined || followed >= MOST_REDIRECTS) return response
      await response.body?.cancel()
      address = target
    }
  }
}

/** Where an answer redirects a request to, within the origin that it was sent to. */
export function redirectWithin(
  { status, location }: { status: number; location: string | null | undefined },
  from: string,
  method = "GET",
): string | undefined {
  if (status < 300 || status >= 400 || typeof location !== "string") return undefined
  // Other redirects would turn a call into a plain reading of another page.
  if (status !== 307 && status !== 308 && method !== "GET") return undefined
  const target = URL.parse(location, from)
  return target !== null && target.origin === new URL(from).origin ? target.href : undefined
}
