import { messageOf, ToolwrightError, type JsonSchema } from "@toolwright/toolbox"

/** `hybrid` tries with the constraint and, if that fails, once without. */
export type GenerationMode = "unconstrained" | "grammar" | "schema" | "hybrid"

/** What holds an output: at most one of both. */
export interface Constraint {
  readonly grammar?: string
  readonly schema?: JsonSchema
}

/** One try: what it was held to, and why it failed, if it did. */
export interface Attempt {
  readonly constraint: "none" | "grammar" | "schema"
  readonly error?: string
}

/** The constraints to try, in order. A grammar is preferred where both are at hand. */
export function constraintsFor(mode: GenerationMode, { grammar, schema }: Constraint): Constraint[] {
  const needs = (what: string) =>
    new ToolwrightError("MISSING_CONSTRAINT", `Mode '${mode}' needs a ${what}.`, {
      hint: "Pass one, or use mode 'unconstrained'.",
    })
  if (mode === "unconstrained") return [{}]
  if (mode === "grammar") {
    if (grammar === undefined) throw needs("grammar")
    return [{ grammar }]
  }
  if (mode === "schema") {
    if (schema === undefined) throw needs("schema")
    return [{ schema }]
  }
  if (grammar === undefined && schema === undefined) throw needs("grammar or schema")
  return [grammar === undefined ? { schema: schema! } : { grammar }, {}]
}

/**
 * Generates in a mode. Every try is in the record, failed ones with their reason.
 *
 * @param run generates under one constraint; in mode `hybrid` its failure leads to one try without
 * @throws ToolwrightError `MISSING_CONSTRAINT`; and what the last `run` threw
 */
export async function generateInMode<Result>(
  mode: GenerationMode,
  constraint: Constraint,
  run: (constraint: Constraint) => Promise<Result>,
): Promise<{ result: Result; attempts: Attempt[] }> {
  const attempts: Attempt[] = []
  const constraints = constraintsFor(mode, constraint)
  for (const [index, each] of constraints.entries()) {
    const kind = each.grammar === undefined ? (each.schema === undefined ? "none" : "schema") : "grammar"
    try {
      const result = await run(each)
      return { result, attempts: [...attempts, { constraint: kind }] }
    } catch (thrown) {
      if (index + 1 === constraints.length) throw thrown
      attempts.push({ constraint: kind, error: messageOf(thrown) })
    }
  }
  throw new ToolwrightError("MISSING_CONSTRAINT", "There was nothing to try.")
}
