import { endingOf, type ProcessOutcome } from "@toolwright/host/process"

/** How long one command of git may take, in milliseconds. */
export const GIT_TIMEOUT_MS = 60_000

/** By how git ended, what its failure is called. */
const CODES = {
  exit: "GIT_FAILED",
  timeout: "TIMEOUT",
  cancelled: "CANCELLED",
  "output-limit": "OUTPUT_LIMIT",
  "disk-limit": "DISK_LIMIT",
  "memory-limit": "MEMORY_LIMIT",
} as const satisfies Record<ProcessOutcome["ended"], string>

/** What is to be done about a repository that takes more than there is. */
export const TOO_LARGE =
  "What is asked about names more files than can be looked at here. Ask about some files only, or let a person look " +
  "at the repository: a commit can name any number of files without holding them."

/** What went wrong with a command of git: the error's code, why, and what to do where that is known. */
export function problemOf(outcome: ProcessOutcome): { code: string; why: string; hint?: string } {
  const { ended, exitCode, stdout, stderr } = outcome
  const said = `${stderr.text}\n${stdout.text}`.trim()
  const why = ended === "exit" ? said || `exit code ${exitCode}` : `it was ${endingOf(outcome, GIT_TIMEOUT_MS)}`
  const isTooLarge = ended === "memory-limit" || ended === "disk-limit" || ended === "output-limit"
  return { code: CODES[ended], why, ...(isTooLarge ? { hint: TOO_LARGE } : {}) }
}
