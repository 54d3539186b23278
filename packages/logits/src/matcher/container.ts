/** What arrays and objects have in common as threads: where they begin, and how they are opened. */
import type { Notation } from "../grammar/notation.ts"
import type { Frame, Sink } from "./frames.ts"
import type { ValueWriter } from "./value-writer.ts"

/** Where a value begins: in which notation, whether white space may come before, and what comes after it. */
export interface Place {
  readonly notation: Notation
  readonly lead: boolean
  readonly parent: Frame
  readonly writer: ValueWriter
}

/** An array or object that is being written, by its plan. */
export interface Writing<Plan> {
  readonly plan: Plan
  readonly notation: Notation
  readonly writer: ValueWriter
  readonly parent: Frame
  readonly id: string
}

export function writingOf<Plan>(set: object, plan: Plan, { notation, writer, parent }: Place): Writing<Plan> {
  const id = `${writer.store.numberOf(set)},${writer.store.numberOf(notation)}`
  return { plan, notation, writer, parent, id }
}

/**
 * Opens it, and goes on with what may come first.
 */
export function openContainer(
  writing: Pick<Writing<unknown>, "notation" | "parent" | "writer" | "id">,
  { text, kind, lead }: { text: string; kind: "a" | "o"; lead: boolean },
  sink: Sink,
  first: (sink: Sink) => void,
): void {
  const { notation, parent, writer, id } = writing
  if (text === "") first(sink)
  else
    sink.add(
      writer.literals([text], notation, lead),
      writer.store.frame(parent, `${kind}${id}`, (_, sink) => first(sink)),
    )
}
