import { failure, type ToolResult } from "@toolwright/toolbox"
import { type GuardedFetch, asObject, asText, requestJson, type JsonAnswer, cleanLine } from "@toolwright/host/net"

/**
 * GETs one REST address; unchanged answers come from memory and cost no rate limit (conditional requests, RFC 9110
 * §13).
 */
export type GithubGet = (url: string, signal: AbortSignal) => Promise<JsonAnswer>

const MAX_REMEMBERED = 200
const MAX_BYTES = 20 * 1024 * 1024

export function createGithubGet(fetch: GuardedFetch, token: string | undefined): GithubGet {
  const remembered = new Map<string, { etag: string; answer: JsonAnswer }>()
  return async (url, signal) => {
    const known = remembered.get(url)
    const answer = await requestJson(fetch, url, {
      signal,
      limits: { maxBytes: MAX_BYTES },
      headers: {
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
        ...(token === undefined ? {} : { authorization: `token ${token}` }),
        ...(known === undefined ? {} : { "if-none-match": known.etag }),
      },
    })
    if (answer.status === 304 && known !== undefined) return known.answer
    const { etag } = answer.headers
    remembered.delete(url)
    if (answer.status === 200 && etag !== undefined) {
      remembered.set(url, { etag, answer })
      if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string)
    }
    return answer
  }
}

/** The address of the next page in a `Link` header, when it is on the same server. */
export function nextPage(link: string | undefined, from: string): string | undefined {
  const next = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1]
  if (next === undefined || !URL.canParse(next, from)) return undefined
  const url = new URL(next, from)
  return url.origin === new URL(from).origin ? url.href : undefined
}

/** An answer of 400 or above as a failed result; each cause has its own code. */
export function githubFailure(
  { status, headers, value }: JsonAnswer,
  what: string,
  hasToken: boolean,
  now: number,
): ToolResult {
  const said = cleanLine(asText(asObject(value).message) ?? "", 200)
  const quoted = said === "" ? "" : ` (GitHub says: ${said})`
  const limited = rateLimit(status, headers, said, now)
  if (limited !== undefined) {
    return failure({
      code: "RATE_LIMITED",
      message:
        `${what} failed: GitHub's rate limit is used up; it resets at ${limited.resetAt}, in ` +
        `${limited.seconds} s${quoted}.`,
      hint: hasToken
        ? "Try again after that time."
        : "Try again after that time, or set GITHUB_TOKEN, which raises the limit from 60 to 5000 an hour.",
      retryable: true,
      details: { resetAt: limited.resetAt, retryAfterSeconds: limited.seconds, status },
    })
  }
  if (status === 401) {
    return failure({
      code: "UNAUTHORIZED",
      message: `${what} failed: GitHub refuses the token${quoted}.`,
      hint: "Set GITHUB_TOKEN to a valid token, or leave it out for public repositories.",
    })
  }
  if (status === 403) {
    return failure({
      code: "ACCESS_DENIED",
      message: `${what} failed: access is forbidden${quoted}.`,
      hint: "The token needs read access to pull requests of this repository.",
    })
  }
  if (status === 404) {
    return failure({
      code: "NOT_FOUND",
      message:
        `${what} failed: there is no such pull ` +
        `request${hasToken ? ", or the token may not see it" : ", or the repository is private"}.`,
      hint: hasToken
        ? "Check owner, repository and number."
        : "Check owner, repository and number; for a private repository set GITHUB_TOKEN.",
    })
  }
  return failure({
    code: "SERVICE_FAILED",
    message: `${what} failed: GitHub answered ${status}${quoted}.`,
    retryable: status >= 500,
    details: { status },
  })
}

/**
 * Primary limit: nothing remains until `x-ratelimit-reset` (epoch seconds). Secondary: `retry-after`, or else a minute.
 */
function rateLimit(status: number, headers: JsonAnswer["headers"], said: string, now: number) {
  if (status !== 403 && status !== 429) return undefined
  const after = Number(headers["retry-after"])
  const reset = Number(headers["x-ratelimit-reset"])
  let seconds: number
  if (headers["retry-after"] !== undefined && Number.isFinite(after)) seconds = after
  else if (headers["x-ratelimit-remaining"] === "0" && Number.isFinite(reset))
    seconds = Math.max(0, reset - Math.floor(now / 1000))
  else if (status === 429 || /rate limit/i.test(said)) seconds = 60
  else return undefined
  return { seconds, resetAt: new Date(Math.floor(now / 1000) * 1000 + seconds * 1000).toISOString() }
}
