export const PREFIX = ".toolwright-"
export const SUFFIX = ".tmp"

/** Whether a name is that of a temporary file; listings leave those out. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(PREFIX) && name.endsWith(SUFFIX)
}
