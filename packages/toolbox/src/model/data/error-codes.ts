import type { ErrorCodeEntry } from "./error-code-entry.ts"
import { MODELS, FORMATS, GRAMMARS, RUNS, SETTINGS, SOURCES, SERVERS, TESTS } from "./runtime-error-codes.ts"
import {
  CALLS,
  DEFINITIONS,
  FILES,
  PROGRAMS,
  REPOSITORIES,
  CHECKS,
  NETWORK,
  BLOG,
  DATABASES,
} from "./tool-error-codes.ts"

export type { ErrorCodeEntry } from "./error-code-entry.ts"

/** Every code by the part of the project that it speaks of: what `docs/errors.md` is written from. */
export const ERROR_AREAS = {
  "Calls of tools": CALLS,
  "Definitions of tools": DEFINITIONS,
  Files: FILES,
  Programs: PROGRAMS,
  Repositories: REPOSITORIES,
  "Checks of work": CHECKS,
  Network: NETWORK,
  "Blog and calendar": BLOG,
  Databases: DATABASES,
  Models: MODELS,
  "Formats and templates": FORMATS,
  "Grammars and sampling": GRAMMARS,
  "Agents and runs": RUNS,
  Settings: SETTINGS,
  "Sources of tools": SOURCES,
  Servers: SERVERS,
  "Tests of agents": TESTS,
} as const

/** A code that this project gives. Tools of applications have their own. */
export type ErrorCode = {
  [Area in keyof typeof ERROR_AREAS]: keyof (typeof ERROR_AREAS)[Area]
}[keyof typeof ERROR_AREAS]

/** The one catalogue of error codes: exit codes, statuses and whether to try again follow from it. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeEntry>> = Object.assign({}, ...Object.values(ERROR_AREAS))

/** What is known of a code; nothing of one that is an application's own. */
export function aboutCode(code: string): ErrorCodeEntry | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined
}
