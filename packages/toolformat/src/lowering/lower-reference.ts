/** References: written out, or kept under `$defs` where a schema contains itself. */
import { ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { inside, report, type Lowering, type Place } from "./context.ts"
import { define, merge } from "./merge.ts"
import { isSchema, resolve, type AnySchema } from "./references.ts"
import { ANNOTATIONS, BOOKKEEPING } from "./targets.ts"

/** How many schemas may stand in one another, and how many references may lead on to the next. */
export const MAX_DEPTH = 200

/** A schema with its reference resolved and joined to what stands beside it; one without is returned as it is. */
export function dereference(lowering: Lowering, node: AnySchema, path: string, hops = 0): AnySchema {
  if (!isSchema(node) || typeof node.$ref !== "string") return node
  if (hops > MAX_DEPTH)
    throw new ToolwrightError("INVALID_SCHEMA", `At "${path}": the reference ${node.$ref} leads back to itself.`)
  const { $ref: reference, ...beside } = node
  return merge(beside, dereference(lowering, follow(lowering, reference, path), path, hops + 1), (keyword) =>
    report(lowering, path, keyword, "widened", "It stands beside a reference that has another value."),
  )
}

/** What a reference leads to; anything at all outside of the schema, which is told. */
function follow(lowering: Lowering, reference: string, path: string): AnySchema {
  const found = resolve(lowering.schema, reference)
  if (found !== undefined) return found
  if (/^(?:[a-z][a-z\d+.-]*:|\/|[^#]+\.json)/i.test(reference)) {
    report(lowering, path, "$ref", "widened", `The reference ${reference} leads outside of the schema.`)
    return true
  }
  throw new ToolwrightError("INVALID_SCHEMA", `At "${path}": the reference ${reference} leads nowhere.`, {
    hint: "Define it under $defs.",
  })
}

export function lowerReference(lowering: Lowering, node: JsonSchema, place: Place): JsonSchema {
  const { path, trail } = place
  const found = follow(lowering, node.$ref!, path)
  const whole = dereference(lowering, node, path)
  const beside = Object.keys(node).filter((keyword) => keyword !== "$ref" && restricts(keyword))
  const isOpen = trail.includes(found)
  if (canBeNamed(lowering, found, isOpen) && (beside.length === 0 || isOpen)) {
    for (const keyword of beside)
      report(lowering, path, keyword, "widened", "It stands beside a reference to a schema that contains itself.")
    return { $ref: `#/$defs/${nameOf(lowering, found, node.$ref!)}` }
  }
  if (!isOpen) return lowering.lower(whole, inside(place, found))
  report(lowering, path, "$ref", "widened", "A schema that contains itself cannot be expressed here.")
  return lowering.anything({ type: isSchema(found) ? found.type : undefined }, place)
}

function restricts(keyword: string): boolean {
  return !ANNOTATIONS.has(keyword) && !BOOKKEEPING.has(keyword)
}

/** Whether a schema contains itself, and the target knows references. */
function canBeNamed({ profile, names, schema }: Lowering, found: AnySchema, isOpen: boolean): boolean {
  return profile.references && (isOpen || names.has(found) || reaches(schema, found, found))
}

/** Whether a schema contains a reference that leads to `goal`. */
function reaches(root: JsonSchema, from: unknown, goal: AnySchema, seen = new Set<unknown>()): boolean {
  if (typeof from !== "object" || from === null || seen.has(from)) return false
  seen.add(from)
  return Object.entries(from).some(([key, value]) => {
    if (key !== "$ref" || typeof value !== "string") return reaches(root, value, goal, seen)
    const next = resolve(root, value)
    return next === goal || reaches(root, next, goal, seen)
  })
}

/** The name under `$defs` of a schema that contains itself, which is lowered when it is first met. */
function nameOf(lowering: Lowering, found: AnySchema, reference: string): string {
  const { schema, names, definitions } = lowering
  const known = names.get(found)
  if (known !== undefined) return known
  let name = found === schema ? "root" : (reference.split("/").at(-1) ?? "").replace(/\W+/g, "_") || "definition"
  while (Object.hasOwn(definitions, name)) name += "_"
  names.set(found, name)
  define(definitions, name, {})
  const place = { path: reference.slice(reference.indexOf("#") + 1), trail: [] }
  define(definitions, name, lowering.lower(found, place))
  return name
}
