/**
 * How values are written. A notation is data: the same type of value can be held to JSON, to Python literals, to a
 * family's own tags. See `docs/grammars.md`.
 */

import type { StringStyle } from "../lexeme/string-style.ts"

export type { StringStyle }

/** How an object is written: `open`, then entries with `separator` between them, then `close`. */
export interface ObjectStyle {
  readonly open: string
  readonly beforeKey: string
  readonly key: StringStyle
  /** Between key and value. Where families mark the type there, the two texts differ. */
  readonly afterKey: string | { readonly string: string; readonly other: string }
  readonly afterValue: string
  readonly separator: string
  readonly close: string
}

/** How an array is written. */
export interface ArrayStyle {
  readonly open: string
  readonly separator: string
  readonly close: string
}

export interface Notation {
  /** Names the notation in rule names: lower case, digits, hyphens. Different notations have different ids. */
  readonly id: string
  readonly string: StringStyle
  readonly true: string
  readonly false: string
  readonly null: string
  readonly array: ArrayStyle
  readonly object: ObjectStyle
  /** White space allowed between the parts of objects and arrays: JSON's four characters, or none at all. */
  readonly whitespace: "json" | "none"
  /**
   * `plain`: whole numbers are written without a fraction. `any`, the default: 1.0 is a whole number too, as in JSON
   * Schema.
   */
  readonly wholeNumbers?: "plain" | "any"
  /** How the values inside an object or array are written; the notation itself where it is left out. */
  readonly nested?: Notation
}

export const JSON_OBJECT: ObjectStyle = {
  open: "{",
  beforeKey: "",
  key: { kind: "json" },
  afterKey: ":",
  afterValue: "",
  separator: ",",
  close: "}",
}

export const JSON_ARRAY: ArrayStyle = { open: "[", separator: ",", close: "]" }

/** RFC 8259, white space allowed wherever JSON allows it, but not before and after the whole. */
export const jsonNotation: Notation = {
  id: "json",
  string: { kind: "json" },
  true: "true",
  false: "false",
  null: "null",
  array: JSON_ARRAY,
  object: JSON_OBJECT,
  whitespace: "json",
}

/** JSON as models should write it: whole numbers without a fraction. */
export const modelJsonNotation: Notation = { ...jsonNotation, id: "model-json", wholeNumbers: "plain" }

/** Python literals, as in pythonic tool calls. */
export const pythonNotation: Notation = {
  id: "python",
  string: { kind: "python" },
  true: "True",
  false: "False",
  null: "None",
  array: JSON_ARRAY,
  object: { ...JSON_OBJECT, key: { kind: "python" } },
  whitespace: "json",
  wholeNumbers: "plain",
}
