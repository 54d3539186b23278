/** Arrays as threads. */
import type { Notation } from "../grammar/notation.ts"
import type { ArraySet, TypeAlgebra, ValueType } from "../schema/types.ts"
import { type ArrayPlan, canClose, noItems, planOf, type Progress, steps } from "../plan/array-plan.ts"
import type { Frame, Sink } from "./frames.ts"
import { openContainer, type Place, type Writing, writingOf } from "./container.ts"

/**
 * Items of an array with `uniqueItems` that are compared with each other; an array with more of them is not accepted.
 */
const MOST_REMEMBERED = 300

export function enterArray(set: ArraySet, algebra: TypeAlgebra, place: Place, sink: Sink): void {
  const writing: Writing<ArrayPlan> = writingOf(set, planOf(set, algebra), place)
  const { plan, notation, parent } = writing
  const begin = noItems(plan)
  openContainer(writing, { text: notation.array.open, kind: "a", lead: place.lead }, sink, (sink) => {
    addItem(writing, begin, sink)
    if (canClose(plan, begin)) addLiteral(writing, [notation.array.close], parent, sink)
  })
}

function addLiteral(
  { writer, notation }: Writing<ArrayPlan>,
  texts: readonly string[],
  frame: Frame,
  sink: Sink,
): void {
  if (texts.length === 1 && texts[0] === "") frame.after(0, sink)
  else sink.add(writer.literals(texts, notation, true), frame)
}

function addItem(writing: Writing<ArrayPlan>, progress: Progress, sink: Sink): void {
  const { plan, notation, writer, parent, id } = writing
  const inner = notation.nested ?? notation
  for (const { type, next } of steps(plan, progress)) {
    const key = `i${id},${next.index},${next.counts.join()},${next.used},${JSON.stringify(next.taken)}`
    if (plan.unique.kind === "compare") {
      addRemembered(writing, type, next, key, sink)
      continue
    }
    const frame = writer.store.frame(parent, key, (_, sink, self) => afterItem(writing, next, self, sink))
    writer.value(type, { notation: inner, lead: notation.whitespace === "json", frame }, sink)
  }
}

/** An item whose text is kept, so that the next ones can differ from it. Only JSON can be read back here. */
function addRemembered(writing: Writing<ArrayPlan>, type: ValueType, next: Progress, key: string, sink: Sink): void {
  const { notation, writer, parent } = writing
  const inner = notation.nested ?? notation
  if (!isJson(inner)) {
    if (next.taken.length > 0 || next.index !== 1) return
    const frame = writer.store.frame(parent, `${key}!`, (_, sink) => closeOnly(writing, next, sink))
    writer.value(type, { notation: inner, lead: notation.whitespace === "json", frame }, sink)
    return
  }
  const { lexeme, textOf } = writer.captured(type, inner)
  const frame = writer.store.frame(parent, key, (outcome, sink, self) => {
    const progress: Progress = { ...next, taken: [...next.taken, textOf(outcome)] }
    afterItem(
      writing,
      progress,
      writer.store.frame(self, `t${outcome}`, () => {}),
      sink,
    )
  })
  sink.add(lexeme, frame)
}

function closeOnly(writing: Writing<ArrayPlan>, progress: Progress, sink: Sink): void {
  if (canClose(writing.plan, progress)) addLiteral(writing, [writing.notation.array.close], writing.parent, sink)
}

const isJson = ({ string, array, object, nested, ...words }: Notation): boolean =>
  string.kind === "json" &&
  object.key.kind === "json" &&
  object.open === "{" &&
  array.open === "[" &&
  words.true === "true" &&
  (nested === undefined || isJson(nested))

function afterItem(writing: Writing<ArrayPlan>, progress: Progress, self: Frame, sink: Sink): void {
  const { plan, notation, writer, parent } = writing
  const { separator, close } = notation.array
  const full = plan.unique.kind === "compare" && progress.taken.length >= MOST_REMEMBERED
  const more = !full && steps(plan, progress).length > 0
  const end = canClose(plan, progress)
  if (more && end && separator !== "" && close !== "" && separator !== close) {
    const going = writer.store.frame(self, "n", (outcome, sink) => {
      if (outcome === 0) addItem(writing, progress, sink)
      else parent.after(0, sink)
    })
    return addLiteral(writing, [separator, close], going, sink)
  }
  if (more)
    addLiteral(
      writing,
      [separator],
      writer.store.frame(self, "s", (_, sink) => addItem(writing, progress, sink)),
      sink,
    )
  if (end) addLiteral(writing, [close], parent, sink)
}
