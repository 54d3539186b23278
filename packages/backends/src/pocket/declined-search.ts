import { existsSync } from "node:fs"
import { join } from "node:path"
import type { PocketCall } from "./call.ts"
import { SEARCH_TOOL } from "./tools.ts"

/** A request to find one word in one place. */
const SEARCH =
  /^(?:please )?(?:find|look for|search for) (?:the |all |every )?(["'`]?)([^\s"'`]+)\1 in (?:the )?(?!the )([\w-][\w./-]*?)\/?(?: folder| directory)?[.!?]?$/i

/**
 * The search that a request asks for which the model declines: it takes a folder's plain name for no place. Only what
 * is there is taken for one, and the person is asked.
 */
export function declinedSearch(request: string, root: string | undefined): PocketCall | undefined {
  const [, , pattern, path] = SEARCH.exec(request.trim()) ?? []
  if (root === undefined || pattern === undefined || path === undefined || path.split("/").includes(".."))
    return undefined
  return existsSync(join(root, path)) ? { name: SEARCH_TOOL, arguments: { pattern, path } } : undefined
}
