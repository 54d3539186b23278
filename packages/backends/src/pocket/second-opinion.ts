/**
 * A second opinion on a request, made from the same phrases in another way: a linear model of single words and pairs of
 * them. See `training/pocket/opinion.py`.
 */
export interface OpinionData {
  /** `none` and the tools. */
  readonly classes: readonly string[]
  /** In tenths, as the weights are. */
  readonly bias: readonly number[]
  /** Of each word and pair: a class's index, its weight, and so on. */
  readonly grams: Readonly<Record<string, readonly number[]>>
}

export interface Opinion {
  /** How likely it is that the request asks for this tool, or for `none`. */
  readonly chances: ReadonlyMap<string, number>
  /** Words that stand in no phrase. */
  readonly unknown: number
}

export function opinionOf(request: string, { classes, bias, grams }: OpinionData): Opinion {
  const marks = marksOf(request)
  const found = new Set([...marks.slice(1, -1), ...marks.slice(1).map((mark, index) => `${marks[index]!} ${mark}`)])
  const scores = [...bias]
  for (const gram of found) {
    const weights = Object.hasOwn(grams, gram) ? grams[gram]! : []
    for (let at = 0; at < weights.length; at += 2) scores[weights[at]!]! += weights[at + 1]!
  }
  const chances = new Map(classes.map((name, index) => [name, 1 / (1 + Math.exp(-scores[index]! / 10))]))
  const unknown = new Set(marks.filter((mark) => /^[a-z]/.test(mark) && !Object.hasOwn(grams, mark))).size
  return { chances, unknown }
}

/** The words of a request, with marks in place of values. */
function marksOf(request: string): string[] {
  const text = request.replaceAll(/"[^"]*"|`[^`]*`|(?<![A-Za-z0-9])'[^']*'(?![A-Za-z0-9])/g, " <q> ")
  const marks = text
    .split(/\s+/)
    .filter((word) => word !== "")
    .flatMap((word) => {
      const bare = word.replace(/^\(+/, "").replace(/[.,;:!?)]+$/, "")
      return [...(bare === "" ? [] : [markOf(bare)]), ...(word.endsWith("?") ? ["?"] : [])]
    })
  return ["^", ...marks, "$"]
}

function markOf(word: string): string {
  if (word === "<q>") return word
  if (/[/*_\\]|[A-Za-z0-9_]\.[A-Za-z0-9_]|^[.~]/.test(word)) return "<p>"
  if (/^[0-9]+$/.test(word)) return "<n>"
  return /^[A-Za-z]?[a-z]*(?:['-][a-z]+)*$/.test(word) ? word.toLowerCase() : "<v>"
}

/** The values that a request names: quoted texts, numbers and paths. */
export function valuesIn(request: string): string[] {
  const quoted = [...request.matchAll(/"([^"]*)"|`([^`]*)`|(?<![A-Za-z0-9])'([^']*)'(?![A-Za-z0-9])/g)]
  const rest = request.replaceAll(/"[^"]*"|`[^`]*`|(?<![A-Za-z0-9])'[^']*'(?![A-Za-z0-9])/g, " ")
  const bare = rest
    .split(/\s+/)
    .map((word) => word.replace(/^\(+/, "").replace(/[.,;:!?)]+$/, ""))
    .filter((word) => word !== "" && ["<p>", "<n>"].includes(markOf(word)))
  return [...quoted.map(([, double, back, single]) => double ?? back ?? single ?? ""), ...bare]
}
