import { ToolwrightError } from "@toolwright/toolbox"
import { isCheapGlob } from "./glob-cost.ts"
import type { PathTest } from "./path-test.ts"

/**
 * Compiles globs (`*`, `**`, `?`, `{a,b}`, `[a-z]`) to a test over paths with `/`. A glob without `/` is matched
 * against the name alone, so `*.ts` finds files at every depth.
 *
 * @throws ToolwrightError `INVALID_PATTERN` for control characters and globs too long to be meant
 */
export async function compileGlobs(globs: readonly string[], ignoreCase = false): Promise<PathTest> {
  for (const glob of globs) assertGlob(glob)
  const { default: picomatch } = await import("picomatch")
  const expressionOf = async (pattern: string): Promise<{ test: PathTest }> => {
    if (isCheapGlob(pattern)) return picomatch.makeRe(pattern, { dot: true, nocase: ignoreCase })
    const { compileLinearGlob } = await import("./linear-glob.ts")
    return { test: await compileLinearGlob(pattern, ignoreCase) }
  }
  const compiled = globs.map(async (glob): Promise<PathTest> => {
    const pattern = glob.replace(/^\.\//u, "").replace(/\/+$/u, "").replaceAll("[!", "[^")
    const expression = await expressionOf(pattern)
    if (pattern.includes("/")) return (path) => expression.test(path)
    if (!/[*?[\]{}()!+@\\]/u.test(pattern) && !ignoreCase)
      return (path) => path === pattern || path.endsWith(`/${pattern}`)
    return (path) => expression.test(path.slice(path.lastIndexOf("/") + 1))
  })
  const tests = await Promise.all(compiled)
  return tests.length === 1 ? tests[0]! : (path) => tests.some((test) => test(path))
}

/** Longest glob, in characters. */
const LONGEST_GLOB = 1000

function assertGlob(glob: string): void {
  if (/[\u0000-\u001f\u007f]/u.test(glob)) {
    throw new ToolwrightError("INVALID_PATTERN", "A file pattern must not contain control characters or null bytes.")
  }
  if (glob.length > LONGEST_GLOB) {
    throw new ToolwrightError("INVALID_PATTERN", `A file pattern must not be longer than ${LONGEST_GLOB} characters.`)
  }
}
