import type { Schema } from "../lib/json.ts"

export type Path = readonly (string | number)[]

/** What all parts of one form share. */
export interface Form {
  root: Schema
  value: unknown
  change: (value: unknown) => void
  problems: ReadonlyMap<string, string>
}

export interface PartProps {
  form: Form
  schema: Schema
  path: Path
  depth: number
}

/** A path as the server writes it: `edits[0].oldText`. */
export const pointer = (path: Path): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
    .join("")
    .replace(/^\./, "")
