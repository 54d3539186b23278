import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import { isInside } from "@toolwright/host/paths"
import { stateTextOf } from "@toolwright/host/state-files"
import { redactDeep, REDACTED } from "@toolwright/host/text"
import { argumentPaths, failure, type Middleware, type ToolResult } from "@toolwright/toolbox"
import { keyLinesIn } from "./key-lines.ts"

/** What the guard needs to know. */
export interface SecretGuardOptions {
  readonly redact: (text: string) => string
  /** The folders in which calls write, the first being the one that relative paths start from. */
  readonly roots: readonly string[]
  /** Whether private keys are hidden in parts too, by what stands in the files that a call names; so unless given. */
  readonly keyLines?: boolean
}

/** Largest file that is looked into before it is written. */
const LARGEST_BYTES = 50 * 1024 * 1024

/**
 * Takes secrets out of what every call gives back, before it reaches a model, a caller or a record. What a model then
 * writes may hold the mark in place of a secret that it never saw: such a call is refused, since it would destroy the
 * secret without a word.
 */
export function guardSecrets({ redact, roots, keyLines = true }: SecretGuardOptions): Middleware {
  let hasHidden = false
  return async ({ tool, arguments: args }, next) => {
    if (tool.effects?.readOnly !== true && holdsMark(args)) {
      const files = argumentPaths(tool.effects?.writes, args).map((path) => contentOf(roots, path))
      const hidesOne = files.some((text) => text !== undefined && redact(text) !== text)
      const saysSo = files.some((text) => text?.includes(REDACTED) === true)
      if (hidesOne || (hasHidden && !saysSo)) return refused()
    }
    const result = await next()
    const lines = keyLines ? keyLinesIn(roots, args, result) : undefined
    const safe = withoutSecrets(result, lines === undefined ? redact : (text) => lines(redact(text)))
    hasHidden ||= safe !== result
    return safe
  }
}

/** A result without secrets; the result itself where there are none. The paths that it changed stay as they are. */
export function withoutSecrets(result: ToolResult, redact: (text: string) => string): ToolResult {
  const { output, data, error, metadata } = result
  const safe = redact(output)
  // Data often repeats the output, which need not be read through again.
  const rest = (text: string): string => (text === output ? safe : redact(text))
  const hidden = { output: safe, data: redactDeep(data, rest), metadata: redactDeep(metadata, rest) }
  const failed = redactDeep(error, rest)
  const isClean = hidden.output === output && hidden.data === data && hidden.metadata === metadata && failed === error
  if (isClean) return result
  return result.success ? { ...result, ...hidden } : { ...result, ...hidden, error: failed ?? result.error }
}

function refused(): ToolResult {
  return failure({
    code: "SECRET_HIDDEN",
    message:
      `The arguments hold ${REDACTED}, which stands for a secret that was not shown: writing it would put the mark ` +
      "in the secret's place.",
    hint:
      "Change only what stands beside it, with a text that does not contain it, or ask the user to make " +
      "this change.",
  })
}

function holdsMark(value: unknown): boolean {
  if (typeof value === "string") return value.includes(REDACTED)
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).some(holdsMark)
}

/** What stands in a file inside the roots; nothing of one that is elsewhere, absent or no file. */
function contentOf(roots: readonly string[], path: string): string | undefined {
  try {
    const real = realpathSync(resolve(roots[0] ?? ".", path))
    if (!roots.some((root) => isInside(realpathSync(root), real))) return undefined
    return stateTextOf(real, { limit: LARGEST_BYTES })
  } catch {
    return undefined
  }
}
