/** JSON with keys in sorted order, so that the same arguments give the same text however they were written. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  let text = ""
  for (const key of Object.keys(value).toSorted()) {
    const inner = (value as Record<string, unknown>)[key]
    if (inner === undefined) continue
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(inner)}`
  }
  return `{${text}}`
}
