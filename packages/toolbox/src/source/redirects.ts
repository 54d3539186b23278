import { traced } from "../trace-context.ts"

/** Redirects that are followed in a row. */
const MOST_REDIRECTS = 3

/**
 * A `fetch` that follows redirects to the same origin only: what is sent to a server, arguments and keys in headers of
 * any name, goes to nobody else because that server says so. One to elsewhere is the answer itself.
 */
export function withinOrigin(fetcher: typeof fetch): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    let address = String(url)
    for (let followed = 0; ; followed++) {
      const response = await fetcher(address, { ...traced(init), redirect: "manual" })
      const target = response.status >= 300 && response.status < 400 ? targetOf(response, address) : undefined
      // Other redirects would turn a call into a plain reading of another page.
      const keeps = [307, 308].includes(response.status) || (init?.method ?? "GET") === "GET"
      if (target === undefined || !keeps || followed >= MOST_REDIRECTS) return response
      await response.body?.cancel()
      address = target
    }
  }
}

/** Where a redirect leads, within the origin. */
function targetOf(response: Response, from: string): string | undefined {
  const target = URL.parse(response.headers.get("location") ?? "", from)
  return target !== null && response.headers.has("location") && target.origin === new URL(from).origin
    ? target.href
    : undefined
}
