const MOST_STARS = 3
const MOST_GLOBSTARS = 2
const MOST_BRACES = 3

/**
 * Whether a glob may be matched by a backtracking expression. Each further `*` in a segment multiplies the time by the
 * length of a name, each further `{…}` at least by two; nobody means more than a few of either.
 */
export function isCheapGlob(glob: string): boolean {
  if (/[()|+]/u.test(glob) || count(glob, /\{/gu) > MOST_BRACES) return false
  const globstars = count(glob, /\*{2,}/gu)
  return isBounded(glob) && (globstars < MOST_GLOBSTARS || count(glob, /\*+/gu) <= globstars + 1)
}

const LONGEST_RULE = 4096

/** The same for a line of an ignore file, where the costlier half of what people write must still count. */
export function isCheapRule(rule: string): boolean {
  return rule.length <= LONGEST_RULE && isBounded(rule)
}

function isBounded(glob: string): boolean {
  return (
    count(glob, /\*{2,}/gu) <= MOST_GLOBSTARS &&
    glob.split("/").every((segment) => count(segment, /\*+/gu) <= MOST_STARS)
  )
}

function count(text: string, expression: RegExp): number {
  return text.match(expression)?.length ?? 0
}
