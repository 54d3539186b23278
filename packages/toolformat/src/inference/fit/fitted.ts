import type { CallSyntax, IdPolicy } from "../../engine/syntax.ts"

/** A syntax that was read off a template's renderings. */
export interface Fitted {
  syntax: CallSyntax
  /** What ends a turn of calls, where it is another mark than that of plain text. */
  turnEnd: string
  ids?: IdPolicy
  /** What of the rendering the syntax cannot say. */
  notes: readonly string[]
}
