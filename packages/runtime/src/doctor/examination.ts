import type { Dialect } from "@toolwright/backends"
import type { ServerKind } from "../assembly/server-kinds.ts"

/** How often a model called the tool that it was asked to call, and what went wrong otherwise. */
export interface Tries {
  called: number
  of: number
  /** The last reason for which it did not, in words. */
  otherwise?: string
}

/** What became of a grammar that allows one word: it held, the server passed it over, or refused it. */
export type GrammarFinding = "held" | "ignored" | "refused" | "not offered"

/** What was found out of a model and its server. */
export interface Examination {
  baseUrl: string
  model: string
  /** The API by which the server is asked. */
  backend: ServerKind
  reachable: boolean
  dialect: Dialect
  version?: string
  /** Whether the server lists the model; undefined where it lists none. */
  listed?: boolean
  contextTokens?: number
  /** Whether the server shows the model's chat template, and what calls it means. */
  template: "shown" | "plain" | "not shown"
  format: string
  formatBecause: string
  /** What the server says of its own tool use. */
  saysNative: boolean
  native: Tries
  text: Tries
  grammar: GrammarFinding
  /** The same of a structural tag, which holds calls and leaves text free. */
  structuralTags?: GrammarFinding
  /** Settings that follow. */
  settings: { nativeTools: boolean; dialect: Dialect; contextTokens?: number }
  /** Whether the model calls tools well enough in one of the two ways. */
  usable: boolean
}
