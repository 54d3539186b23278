import type { JsonObject } from "../model/schema.ts"

/**
 * The paths that a call names, read from its arguments as its effects declare them: `path`, `edits[].path`, `files[]`.
 * An array found where a plain name stands counts whole.
 */
export function argumentPaths(selectors: readonly string[] | undefined, args: JsonObject): string[] {
  const paths: string[] = []
  for (const selector of selectors ?? []) {
    const keys = selector.split(".").map((key) => (key.endsWith("[]") ? key.slice(0, -2) : key))
    let values: unknown[] = [args]
    for (const key of keys) {
      values = values.flatMap((value) => {
        const inner = (value as JsonObject | null | undefined)?.[key]
        return Array.isArray(inner) ? inner : [inner]
      })
    }
    for (const value of values) if (typeof value === "string") paths.push(value)
  }
  return paths
}
