import { explain, inspect, messageOf, type JsonSchema } from "@toolwright/toolbox"

/** The form in which a run has to answer. */
export interface OutputForm {
  schema: JsonSchema
  /** Makes the value that the caller gets of one that fits the schema. What it throws is told to the model. */
  parse?(value: unknown): Promise<unknown>
}

/** The value of an answer, or what is wrong with it, in words for the model. */
export type ReadOutput = { value: unknown } | { fault: string }

/** Reads an answer that should be JSON of a form. A fence of Markdown around it does no harm. */
export async function readOutput(text: string, { schema, parse }: OutputForm): Promise<ReadOutput> {
  let value: unknown
  try {
    value = JSON.parse(/^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text)
  } catch (thrown) {
    return { fault: `Your answer is not JSON: ${messageOf(thrown)}.` }
  }
  try {
    const found = await inspect(schema, value, { foreign: true })
    if (found.errors.length === 0) return { value: parse === undefined ? value : await parse(value) }
    const lines = explain(found).issues.map(({ path, message }) => `- ${path === "" ? "the answer" : path}: ${message}`)
    return { fault: `Your answer does not fit the JSON Schema:\n${lines.slice(0, 10).join("\n")}` }
  } catch (thrown) {
    return { fault: `Your answer does not fit: ${messageOf(thrown)}` }
  }
}
