import { describeFault, explain, inspect, schemaFault, type JsonSchema } from "@toolwright/toolbox"
import { text as textOf } from "../schema-parts.ts"
import { excerpt, failed, passed, type Found, type GraderKind } from "./kind.ts"
import { patternFault, patternIn } from "./pattern.ts"

/** What a text has to be; all that is said has to hold. */
export interface TextCheck {
  contains?: string | string[]
  lacks?: string | string[]
  /** The whole text, but for spaces and line ends around it. */
  equals?: string
  /** A regular expression that is found somewhere in it; `^` and `$` are ends of lines. */
  matches?: string
  /** It is JSON of this form. */
  schema?: JsonSchema
  /** Of `contains`, `lacks`, `equals` and `matches`. */
  ignoreCase?: boolean
}

const TEXTS: JsonSchema = {
  anyOf: [textOf(50_000), { type: "array", items: textOf(50_000), minItems: 1, maxItems: 100 }],
}

export const TEXT_PROPERTIES: Record<string, JsonSchema> = {
  contains: TEXTS,
  lacks: TEXTS,
  equals: { type: "string", maxLength: 200_000 },
  matches: textOf(10_000),
  schema: { type: "object" },
  ignoreCase: { type: "boolean" },
}

/** The parts of a check that look at the text: without one of them it would be content with any. */
export const LOOKS = ["contains", "lacks", "equals", "matches", "schema"] as const

export const answerKind: GraderKind<TextCheck> = {
  schema: { type: "object", properties: TEXT_PROPERTIES, additionalProperties: false },
  title: (said) => `answer ${LOOKS.filter((look) => said[look] !== undefined).join(", ")}`,
  mistakes: textMistakes,
  grade: (said, { answer, output }) =>
    checkText(output === undefined ? answer : JSON.stringify(output), said, "the answer"),
}

export function textMistakes(check: TextCheck): string[] {
  const { matches, schema } = check
  const fault = matches === undefined ? undefined : patternFault(matches)
  const wrong = schema === undefined ? undefined : schemaFault(schema)
  return [
    ...(LOOKS.some((look) => check[look] !== undefined) ? [] : [`say what it has to be: ${LOOKS.join(", ")}`]),
    ...(fault === undefined ? [] : [`matches: ${fault}`]),
    ...(wrong === undefined ? [] : [`schema: ${describeFault(wrong)}`]),
  ]
}

/** @param what the text is, for the reason */
export async function checkText(text: string, check: TextCheck, what: string): Promise<Found> {
  const { equals, matches, schema, ignoreCase = false } = check
  const folded = (each: string): string => (ignoreCase ? each.toLowerCase() : each)
  const whole = folded(text)
  const shown = `${what} is ${JSON.stringify(excerpt(text))}`
  for (const part of listOf(check.contains))
    if (!whole.includes(folded(part))) return failed(`${what} lacks ${JSON.stringify(excerpt(part))}; ${shown}`)
  for (const part of listOf(check.lacks))
    if (whole.includes(folded(part))) return failed(`${what} contains ${JSON.stringify(excerpt(part))}`)
  if (equals !== undefined && whole.trim() !== folded(equals).trim())
    return failed(`${what} is not ${JSON.stringify(excerpt(equals))}; ${shown}`)
  if (matches !== undefined && !patternIn(matches, text, ignoreCase))
    return failed(`nothing in ${what} matches ${matches}; ${shown}`)
  if (schema !== undefined) return fits(text, schema, what)
  return passed(`${what} is as it should be`)
}

async function fits(text: string, schema: JsonSchema, what: string): Promise<Found> {
  let value: unknown
  try {
    value = JSON.parse(withoutFence(text))
  } catch {
    return failed(`${what} is no JSON; it is ${JSON.stringify(excerpt(text))}`)
  }
  const found = await inspect(schema, value)
  if (found.errors.length === 0) return passed(`${what} is JSON of that form`)
  const [first] = explain(found).issues
  return failed(`${what} is JSON of another form: ${first?.path === "" ? "" : `${first?.path}: `}${first?.message}`)
}

/** Models put JSON into a block of code, and mean the JSON. */
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text
}

const listOf = (said: string | string[] | undefined): string[] =>
  said === undefined ? [] : typeof said === "string" ? [said] : said
