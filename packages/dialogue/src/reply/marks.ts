import type { Format, ParseProblem } from "@toolwright/toolformat"

/**
 * A call that broke off with the mark that it began with: what is told of it is what the model wrote.
 *
 * @param raw the reply so far, in which the problem has its place
 */
export function withMark(problem: ParseProblem, raw: string, { calls }: Format): ParseProblem {
  const { kind, at, text, repaired, shown, tool } = problem
  const told = repaired || shown === true || tool !== undefined
  if (kind !== "unterminated-call" || told || !raw.startsWith(text, at)) return problem
  for (const { wrapper, layout } of calls)
    for (const mark of wrapper?.open ?? []) {
      const before = withoutEnd(raw.slice(0, at).trimEnd(), layout?.before?.trim() ?? "")
      if (before.endsWith(mark))
        return { ...problem, at: before.length - mark.length, text: raw.slice(before.length - mark.length) }
    }
  return problem
}

function withoutEnd(text: string, end: string): string {
  return end !== "" && text.endsWith(end) ? text.slice(0, -end.length).trimEnd() : text
}
