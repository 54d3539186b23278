import type { IdPolicy } from "./syntax.ts"

const NINE = /^[a-zA-Z0-9]{9}$/

/**
 * The id of a call: the one the model gave if the family carries ids and it is a valid one, else one of the family's
 * form.
 * Ids depend on the call's place alone, so that the same reply always has the same ids.
 */
export function nextId(policy: IdPolicy, given: string | undefined, name: string, index: number): string {
  if (policy === "nine")
    return given !== undefined && NINE.test(given) ? given : `call${String(index).padStart(5, "0")}`
  if (policy === "kimi") return given ?? `functions.${name}:${index}`
  if (policy === "ordinal") return given ?? String(index)
  return given ?? `call_${index}`
}
