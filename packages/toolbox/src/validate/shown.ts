/** Characters of a name that came in a call, where it is named in an answer. */
const LONGEST_NAME = 100

/** A name or path as an answer shows it: what a caller sent is never sent back at length. */
export function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** A value, short, with its type where that is the point. Only as much of it is looked at as is shown. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  const short = excerpt(value, 80)
  return Array.isArray(value) ? `the array ${short}` : `the ${typeof value} ${short}`
}

/** A list of what is allowed, as far as somebody reads it. */
export function choice(values: readonly unknown[], most = 50): string {
  const shown = values.slice(0, most).map((value) => excerpt(value, LONGEST_NAME))
  const more = values.length - shown.length
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** The beginning of a value's JSON, in time and space of its own length. */
export function excerpt(value: unknown, most: number): string {
  const text = JSON.stringify(cut(value, { left: most })) ?? String(value)
  return text.length > most ? `${text.slice(0, most - 3)}…` : text
}

/** A copy with only the first values and characters; `left` counts down what may still be taken. */
function cut(value: unknown, budget: { left: number }): unknown {
  budget.left--
  if (typeof value === "string") {
    const taken = value.slice(0, Math.max(0, budget.left) + 1)
    budget.left -= taken.length
    return taken
  }
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (let index = 0; index < value.length && budget.left > 0; index++) items.push(cut(value[index], budget))
    return items
  }
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    if (budget.left <= 0) break
    copy[String(cut(key, budget))] = cut((value as Record<string, unknown>)[key], budget)
  }
  return copy
}

/** Whether a value's JSON has at most so many characters, found out without writing all of it. */
export function isShort(value: unknown, most: number): boolean {
  return (JSON.stringify(cut(value, { left: most + 1 })) ?? "").length <= most
}
