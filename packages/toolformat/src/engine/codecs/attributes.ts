/** What the attributes of a tag say. */
import { decodeEntities } from "../json-text.ts"

/** What one of the attributes of a tag says; empty where it is not among them. */
export function attributeIn(attributes: string, name: string): string {
  return new RegExp(`(?:^|[^\\w-])${name}\\s*=\\s*["']?([^"'\\s]*)`).exec(attributes)?.[1] ?? ""
}

/** What an attribute says: without quotes around it, up to the quote that more attributes follow, entities decoded. */
export function attributeText(written: string): string {
  const [text = ""] = written.trim().replace(/^["']/, "").split('"')
  return decodeEntities(text.trim())
}
