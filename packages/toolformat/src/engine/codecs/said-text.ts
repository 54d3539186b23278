import { isText, type Typing } from "../coerce.ts"
import { admittedTypes } from "../schema-types.ts"

/** Whether a value is passed on as the text that it is. */
export function isSaidText(said: string | undefined, typing: Typing | undefined): boolean {
  if (said === undefined) return isText(typing)
  if (said !== "true" && said !== "string") return false
  return typing === undefined || admittedTypes(typing.schema, typing.root).has("string")
}
