/** What arrays and objects write their values with. */
import type { Lexeme } from "../lexeme/lexeme.ts"
import type { Notation } from "../grammar/notation.ts"
import type { KeyLanguage } from "../plan/key-language.ts"
import type { Kinds } from "../plan/kinds.ts"
import type { ValueType } from "../schema/types.ts"
import type { Frame, FrameStore, Sink } from "./frames.ts"

/** Where a value stands. */
export interface ValuePlace {
  readonly notation: Notation
  /** Whether white space may come before it, where the notation has any. */
  readonly lead: boolean
  /** Gets outcome 0 when the value is through. */
  readonly frame: Frame
}

export interface ValueWriter {
  readonly store: FrameStore
  /** How keys are read, by all that it depends on; undefined where none may follow. */
  readonly keys: Map<string, KeyReading | undefined>
  /** Puts the beginnings of a value into the sink. */
  value(type: ValueType, where: ValuePlace, sink: Sink, kinds?: Kinds): void
  /** A lexeme for a text or one of several, with the white space of the notation before it where `lead` is set. */
  literals(texts: readonly string[], notation: Notation, lead: boolean): Lexeme
  /** A whole value as one lexeme that keeps its text: the text of an outcome is what `textOf` says. */
  captured(type: ValueType, notation: Notation): Captured
}

/** The keys that may follow, as a language and as the lexeme that reads one and the text after it. */
export interface KeyReading {
  readonly language: KeyLanguage
  readonly lexeme: Lexeme
}

export interface Captured {
  readonly lexeme: Lexeme
  textOf(outcome: number): string
}
