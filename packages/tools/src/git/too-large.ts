import { ToolwrightError } from "@toolwright/toolbox"
import { TOO_LARGE } from "./endings.ts"

/** What asks git how much a commit names: whether it wrote more than so many bytes. */
export type NamesMore = (commit: string, bytes: number, signal: AbortSignal) => Promise<boolean>

/** A git that has not ended by then may have begun to list without end. Looking before each one would cost more. */
const PATIENCE_MS = 1000
/** The paths of some two million files: with more of them, git's own list does not fit into its memory. */
const MOST_NAMES = 96 * 1024 * 1024
const COMMIT = /\b[\da-f]{40}(?:[\da-f]{24})?\b/gu
const MOST_COMMITS = 4

/**
 * Runs git so that a commit which names any number of files without holding them (a folder that stands ten times in a
 * folder that stands ten times in another) does not keep it working until all its memory is taken: once it takes its
 * time, somebody lists beside it what the commits name, which is known to be too much long before.
 *
 * @throws ToolwrightError `MEMORY_LIMIT` where one of the commits names too much
 */
export async function withinNames<T>(
  { argv, command, namesMore }: { argv: readonly string[]; command: string; namesMore: NamesMore },
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const late = new AbortController()
  const commits = [...new Set(argv.join(" ").match(COMMIT) ?? ["HEAD"])].slice(0, MOST_COMMITS)
  let endless: string | undefined
  const look = async (): Promise<void> => {
    for (const commit of commits) {
      const isEndless = await namesMore(commit, MOST_NAMES, over.signal)
      if (over.signal.aborted) return
      if (!isEndless) continue
      endless = commit
      return late.abort()
    }
  }
  let looking: Promise<void> | undefined
  const timer = setTimeout(() => (looking = look().catch(() => {})), PATIENCE_MS)
  try {
    const result = await run(AbortSignal.any([signal, late.signal]))
    if (endless !== undefined) throw tooLarge(command, endless)
    return result
  } finally {
    clearTimeout(timer)
    over.abort()
    await looking
  }
}

function tooLarge(command: string, commit: string): ToolwrightError {
  const which = commit === "HEAD" ? "the commit that is checked out" : `commit ${commit.slice(0, 10)}`
  return new ToolwrightError(
    "MEMORY_LIMIT",
    `git ${command} failed: it was ended because it took too much: ${which} names millions of files`,
    { hint: TOO_LARGE },
  )
}
