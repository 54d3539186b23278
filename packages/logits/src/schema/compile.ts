/** The door of this folder: a schema in, a type and its status out. */
import { classifyKeys } from "./key-classes.ts"
import { effortForOne } from "./effort.ts"
import { isSchema, type Schema } from "./json-schema.ts"
import { type NormaliseOptions, type Reason, Refusal, refusing, typeOfSchema } from "./normalise.ts"
import { candidates } from "./objects.ts"
import { uniquenessOf } from "./unique-items.ts"
import { type ArraySet, type ObjectSet, SchemaProblem, type TypeAlgebra, type ValueType } from "./types.ts"

/**
 * `exact`: a text is accepted where, and only where, it is valid. `relaxed`: more may be accepted; `reasons` lists what
 * is left to later validation. `refused`: there is no type.
 */
export type CompiledType =
  | { readonly status: "exact"; readonly reasons: readonly []; readonly type: ValueType }
  | { readonly status: "relaxed"; readonly reasons: readonly Reason[]; readonly type: ValueType }
  | { readonly status: "refused"; readonly reasons: readonly Reason[]; readonly type?: undefined }

/** Kinds of objects with keys of any name that one value may be. */
const MOST_OPEN_KINDS = 400
const MAX_EXPLORED = 30_000

/**
 * Never throws, whatever the schema is; every type that can be reached has been worked out when it returns.
 */
export function compileType(schema: Schema, options: NormaliseOptions = {}): CompiledType {
  if (!isSchema(schema))
    return {
      status: "refused",
      reasons: [{ path: "#", keyword: "schema", reason: "is neither an object nor true or false" }],
    }
  const first = attempt(schema, options, [])
  const [reason] = first.reasons
  if (first.status !== "refused" || options.relaxed !== true || reason?.keyword !== "uniqueItems") return first
  return attempt(schema, options, [reason])
}

/** @param left what has been found out to be left out: unique items */
function attempt(schema: Schema, options: NormaliseOptions, left: readonly Reason[]): CompiledType {
  const effort = effortForOne(options.effort)
  try {
    const { type, reasons } = typeOfSchema(schema, { ...options, effort }, left.length > 0)
    refusing({ path: "#", keyword: "schema" }, () => explore(type, options.uniqueItems === "finite"))
    const all = distinct([...reasons, ...left])
    return all.length > 0 ? { status: "relaxed", reasons: all, type } : { status: "exact", reasons: [], type }
  } catch (problem) {
    if (problem instanceof Refusal) return { status: "refused", reasons: [problem.reason] }
    throw problem
  } finally {
    effort.end()
  }
}

function distinct(reasons: readonly Reason[]): Reason[] {
  return [...new Map(reasons.map((reason) => [JSON.stringify(reason), reason])).values()]
}

/** Works out every type below, so that no problem is left for later. */
function explore(root: ValueType, finite: boolean): void {
  const { algebra } = root
  const seen = new Set([root])
  const queue = [root]
  const visit = (type: ValueType): void => {
    if (seen.has(type) || !algebra.inhabited(type)) return
    if (seen.size > MAX_EXPLORED) throw new SchemaProblem("the schema needs too many types")
    seen.add(type)
    queue.push(type)
  }
  if (!algebra.inhabited(root)) return
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) {
    const shape = algebra.livingShape(type)
    if (shape.objects.length > MOST_OPEN_KINDS) refuseManyOpenKinds(shape.objects, algebra)
    for (const set of shape.arrays) for (const item of typesInArray(set, algebra, finite)) visit(item)
    for (const set of shape.objects) for (const value of typesInObject(set, algebra)) visit(value)
  }
}

/**
 * Each kind of object that may have any key is followed through each key that is written: with hundreds no mask is
 * quick.
 */
function refuseManyOpenKinds(sets: readonly ObjectSet[], algebra: TypeAlgebra): void {
  const open = sets.filter((set) =>
    classifyKeys(set, algebra).others.some(({ finite, type }) => finite === undefined && algebra.inhabited(type)),
  )
  if (open.length > MOST_OPEN_KINDS)
    throw new SchemaProblem(`a value may be one of ${open.length} kinds of objects with keys of any name`)
}

function typesInArray(set: ArraySet, algebra: TypeAlgebra, finite: boolean): ValueType[] {
  const uniqueness = refusing({ path: set.uniqueAt ?? "#", keyword: "uniqueItems" }, () => uniquenessOf(set, algebra))
  if (finite && uniqueness.kind === "compare") {
    throw new Refusal({
      path: set.uniqueAt ?? "#",
      keyword: "uniqueItems",
      reason: "the items are out of endlessly many values, and token masks cannot compare them",
    })
  }
  const items = [...set.prefix, set.rest]
  return [
    ...items,
    ...set.contains.flatMap(({ type, max }) =>
      items.flatMap((item) => [
        algebra.intersect(item, type),
        ...(max < Infinity ? [algebra.intersect(item, algebra.complement(type))] : []),
      ]),
    ),
  ]
}

function typesInObject(set: ObjectSet, algebra: TypeAlgebra): ValueType[] {
  const classes = classifyKeys(set, algebra)
  return [
    ...classes.named.map(({ type }) => type),
    ...classes.others.map(({ type }) => type),
    ...set.some.flatMap((demand) => candidates(demand, classes, algebra)),
  ]
}
