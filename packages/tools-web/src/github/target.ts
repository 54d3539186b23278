/** Which pull request is meant. */
export interface PullRequestTarget {
  owner: string
  repo: string
  number: number
}

const OWNER = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/
const REPO = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

/**
 * Reads the address of a pull request: a page of its (`…/pull/12/files#diff`), its REST address
 * (`…/repos/o/r/pulls/12`), or the short form `owner/repo#12`.
 *
 * @param hosts host names (and ports) that may stand in the address
 * @returns the target, or what is wrong with the text
 */
export function parsePullRequestUrl(text: string, hosts: ReadonlySet<string>): PullRequestTarget | string {
  const short = /^([^/\s#]+)\/([^/\s#]+)#(\d{1,9})$/.exec(text.trim())
  if (short !== null) return checkedTarget(short[1], short[2], Number(short[3]))
  if (!URL.canParse(text)) return `'${text.slice(0, 200)}' is no URL.`
  const { protocol, host, pathname } = new URL(text)
  if (protocol !== "https:" && protocol !== "http:") return `'${text.slice(0, 200)}' is no web address.`
  if (!hosts.has(host)) return `The URL leads to ${host}, not to ${[...hosts][0]}.`
  const parts = /^(?:\/api\/v3)?(?:\/repos)?\/([^/]+)\/([^/]+)\/pulls?\/(\d{1,9})(?:\/|$)/.exec(pathname)
  if (parts === null) return `${text.slice(0, 200)} is no pull request's address.`
  return checkedTarget(parts[1], parts[2], Number(parts[3]))
}

/** A target from its parts, or what is wrong with them. */
export function checkedTarget(owner: unknown, repo: unknown, number: unknown): PullRequestTarget | string {
  if (typeof owner !== "string" || !OWNER.test(owner)) return `'${String(owner)}' is no GitHub owner.`
  if (typeof repo !== "string" || !REPO.test(repo)) return `'${String(repo)}' is no GitHub repository name.`
  if (typeof number !== "number" || !Number.isInteger(number) || number < 1)
    return `${String(number)} is no pull request number.`
  return { owner, repo: repo.replace(/\.git$/, ""), number }
}
