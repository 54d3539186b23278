import { failure, partsOf, ToolwrightError, type NextStep, type ToolFailure } from "@toolwright/toolbox"
import { visibleName } from "../text/escapes.ts"

/** The one answer for every path outside the roots, whether it exists or not, so that nobody can probe for files. */
export function outsideRoots(asked: string, roots: readonly { path: string }[]): ToolwrightError {
  return new ToolwrightError(
    "ACCESS_DENIED",
    `Access denied: ${printable(asked)} is not within allowed directories (not found or permission denied)`,
    { hint: `Allowed directories: ${roots.map((root) => root.path).join(", ")}. Use a path inside one of them.` },
  )
}

export function invalidPath(asked: string, problem: string): ToolwrightError {
  return new ToolwrightError("INVALID_PATH", `Access denied: invalid path ${printable(asked)}: ${problem}`, {
    hint: "Use a plain path such as src/index.ts.",
  })
}

export const fileNotFound = (asked: string, hint?: string) =>
  error("NOT_FOUND", `File not found: ${printable(asked)}`, hint)
export const directoryNotFound = (asked: string, hint?: string) =>
  error("NOT_FOUND", `Directory not found: ${asked}`, hint)
/** @param does what can be done with what is there instead, in the words of `ToolDefinition.does` */
export const notAFile = (asked: string, hint?: string, does?: string) =>
  error(
    "NOT_A_FILE",
    `Not a file: ${asked}`,
    hint,
    does === undefined ? undefined : { does, arguments: { path: asked } },
  )
/** @param does what can be done with what is there instead, in the words of `ToolDefinition.does` */
export const notADirectory = (asked: string, hint?: string, does?: string) =>
  error(
    "NOT_A_DIRECTORY",
    `Not a directory: ${asked}`,
    hint,
    does === undefined ? undefined : { does, arguments: { path: asked } },
  )

function error(code: string, message: string, hint?: string, next?: NextStep): ToolwrightError {
  return new ToolwrightError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    ...(next === undefined ? {} : { next }),
  })
}

/** A path for a message: cut, and with control characters made visible. */
export function printable(path: string): string {
  const shown = visibleName(path)
  return shown.length > 300 ? `${shown.slice(0, 300)}…` : shown
}

const SYSTEM_ERRORS: Record<string, [code: string, text: string, retryable?: boolean]> = {
  ENOENT: ["NOT_FOUND", "File not found"],
  ENOTDIR: ["NOT_A_DIRECTORY", "Not a directory"],
  EISDIR: ["NOT_A_FILE", "Not a file"],
  EACCES: ["PERMISSION_DENIED", "Permission denied"],
  EPERM: ["PERMISSION_DENIED", "Permission denied"],
  EROFS: ["READ_ONLY", "Permission denied: read-only file system"],
  EEXIST: ["ALREADY_EXISTS", "Already exists"],
  ENOTEMPTY: ["NOT_EMPTY", "Directory not empty"],
  ELOOP: ["INVALID_PATH", "Too many symbolic links"],
  ENAMETOOLONG: ["INVALID_PATH", "Path too long"],
  ENXIO: ["NOT_A_FILE", "Not a file"],
  ENOSPC: ["NO_SPACE", "No space left on the device"],
  EDQUOT: ["NO_SPACE", "Disk quota exceeded"],
  EXDEV: ["CROSS_DEVICE", "Not on the same file system"],
  EMFILE: ["TOO_MANY_OPEN_FILES", "Too many open files", true],
  ENFILE: ["TOO_MANY_OPEN_FILES", "Too many open files", true],
  EBUSY: ["BUSY", "Resource busy", true],
  EIO: ["IO_ERROR", "Input/output error", true],
}

/** The code of an operating-system error (`ENOENT`, …), or undefined for anything else. */
export function systemCode(thrown: unknown): string | undefined {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined
  return code !== undefined && code in SYSTEM_ERRORS ? code : undefined
}

/**
 * What was thrown while a tool worked on a path, as a failed result. System errors are told in this project's words:
 * their own messages name internal descriptors. Anything that is no error about a path is thrown again.
 */
export function pathFailure(thrown: unknown, asked: string): ToolFailure {
  if (ToolwrightError.isInstance(thrown)) {
    return failure(partsOf(thrown))
  }
  const code = systemCode(thrown)
  if (code === undefined) throw thrown
  const [ours, text, retryable = false] = SYSTEM_ERRORS[code]!
  return failure({ code: ours, message: `${text}: ${printable(asked)}`, retryable })
}
