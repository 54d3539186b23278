import { isObject, type Schema } from "../lib/json.ts"

/** What a form that a value may have is called. */
export function nameOf(
  { title, type, const: only, enum: values, properties, required }: Schema,
  index: number,
): string {
  if (typeof title === "string") return title
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values))
    return values
      .slice(0, 4)
      .map((value) => JSON.stringify(value))
      .join(" | ")
  const names = required ?? Object.keys(properties ?? {})
  if (Array.isArray(names) && names.length > 0) return `with ${names.slice(0, 4).join(", ")}`
  return typeof type === "string" ? type : `form ${index + 1}`
}

/** The form that a value has already, as far as that can be seen. */
export function likeliest(variants: Schema[], value: unknown): number {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value
  const fitting = variants.findIndex(({ type: wanted, required, const: only }) => {
    if (only !== undefined) return only === value
    const types = wanted === undefined ? [] : [wanted].flat()
    if (types.length > 0 && !types.some((each) => each === type || (each === "integer" && type === "number")))
      return false
    return !isObject(value) || !Array.isArray(required) || required.every((name) => name in value)
  })
  return Math.max(0, fitting)
}
