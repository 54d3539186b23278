import { inspect, messageOf, type JsonObject } from "@toolwright/toolbox"

/**
 * What is wrong with a text that should be JSON of a schema; nothing where it fits, or where the schema cannot be used.
 */
export async function schemaFault(text: string, schema: JsonObject): Promise<string | undefined> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    return `The answer is not JSON: ${messageOf(thrown)}.`
  }
  try {
    const { errors } = await inspect(schema, value, { foreign: true })
    if (errors.length === 0) return undefined
    const first = errors.slice(0, 5).map(({ instancePath, message }) => `- ${instancePath || "/"}: ${message ?? ""}`)
    return `The answer does not fit the JSON Schema:\n${first.join("\n")}`
  } catch {
    // A schema that cannot be compiled is the client's matter.
    return undefined
  }
}
