import { describeFault, schemaFault, ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { areDisjoint, mergeRoot } from "./unions.ts"
import {
  applicable,
  escape,
  fits,
  impliedTypes,
  isAssertion,
  normalised,
  pointerOf,
  typeOf,
  withNull,
  withPatterns,
} from "./schema-words.ts"
import { define, merge, same, typesOf } from "./merge.ts"
import { isSchema, resolve, schemaMap, schemasIn, type AnySchema } from "./references.ts"
import { ANNOTATIONS, BOOKKEEPING, TARGETS, type LoweringTarget } from "./targets.ts"

/**
 * A keyword that the target cannot express. `path` is a JSON pointer to the schema that has it, in the schema as given.
 * `widened`: the target allows what the schema forbids, so arguments must be checked afterwards. `narrowed`: the target
 * cannot
 * produce some of what the schema allows. `annotation`: only a remark is gone.
 */
export interface Loss {
  path: string
  keyword: string
  effect: "widened" | "narrowed" | "annotation"
  reason: string
}

/** A schema in a target's form, and what it lost. */
export interface LoweredSchema {
  schema: JsonSchema
  losses: Loss[]
}

const TYPES = ["string", "number", "boolean", "null", "object", "array"]
const MAX_DEPTH = 200
const MAX_NODES = 50_000
/** Longest value of a lost keyword that is put into the description, in characters. */
const MAX_REMARK = 200

/**
 * Rewrites the parameters of a tool for a target, and reports every keyword that the target cannot express, with its
 * path.
 *
 * What can be said in other words is rewritten without loss: references, `allOf`, `const`, type lists, `oneOf` with
 * branches
 * that exclude each other, and, for OpenAI's strict mode, optional properties, which become required and nullable (undo
 * it in the
 * arguments with `restoreArguments`). An object that says nothing about further properties is taken to have none. What
 * is lost
 * stands in the description, so that the model still reads it.
 *
 * @param schema the parameters; its root must describe an object
 * @throws ToolwrightError `INVALID_SCHEMA` when the schema is malformed, a reference leads nowhere, or the root is no
 *   object
 */
export function lowerSchema(schema: JsonSchema, target: LoweringTarget): LoweredSchema {
  const profile = TARGETS[target]
  const losses: Loss[] = []
  let nodes = 0
  const definitions = new Map<AnySchema, string>()
  const lowered: Record<string, unknown> = {}
  const report = (path: string, keyword: string, effect: Loss["effect"], reason: string): void => {
    if (!losses.some((loss) => loss.path === path && loss.keyword === keyword && loss.reason === reason))
      losses.push({ path, keyword, effect, reason })
  }

  const fault = schemaFault(schema)
  if (fault !== undefined)
    throw new ToolwrightError("INVALID_SCHEMA", `This is no JSON Schema: ${describeFault(fault)}.`)
  const types = typesOf(schema.type)
  if (types.length > 0 && !types.includes("object")) {
    throw noObject()
  }
  let root: JsonSchema = { ...schema, type: "object" }
  if (!profile.unionRoot)
    root = mergeRoot(
      root,
      (keyword) =>
        report("", keyword, "widened", "The root cannot be a union: its branches are put together into one object."),
      (each) => deref(each, ""),
    )
  if (profile.keywords === "everything") return { schema: root, losses }
  const result = lowerNode(root, "", [])
  const objects = (result.anyOf ?? [result]).filter((branch) => branch.type === "object" || branch.$ref !== undefined)
  if (objects.length === 0) throw noObject()
  return {
    schema: definitions.size === 0 ? result : { ...result, $defs: lowered as Record<string, JsonSchema> },
    losses,
  }

  /** A schema with its reference resolved and joined to what stands beside it; one without is returned as it is. */
  function deref(node: AnySchema, path: string, hops = 0): AnySchema {
    if (!isSchema(node) || typeof node.$ref !== "string") return node
    if (hops > MAX_DEPTH)
      throw new ToolwrightError("INVALID_SCHEMA", `At "${path}": the reference ${node.$ref} leads back to itself.`)
    const { $ref: reference, ...beside } = node
    return merge(beside, deref(follow(reference, path), path, hops + 1), (keyword) =>
      report(path, keyword, "widened", "It stands beside a reference that has another value."),
    )
  }

  function follow(reference: string, path: string): AnySchema {
    const found = resolve(schema, reference)
    if (found !== undefined) return found
    if (/^(?:[a-z][a-z\d+.-]*:|\/|[^#]+\.json)/i.test(reference)) {
      report(path, "$ref", "widened", `The reference ${reference} leads outside of the schema.`)
      return true
    }
    throw new ToolwrightError("INVALID_SCHEMA", `At "${path}": the reference ${reference} leads nowhere.`, {
      hint: "Define it under $defs.",
    })
  }

  function lowerNode(node: AnySchema, path: string, trail: AnySchema[]): JsonSchema {
    nodes += 1
    if (nodes > MAX_NODES)
      throw new ToolwrightError("INVALID_SCHEMA", `Written out, the schema has more than ${MAX_NODES} parts.`)
    if (trail.length > MAX_DEPTH)
      throw new ToolwrightError("INVALID_SCHEMA", `The schema is nested more than ${MAX_DEPTH} deep.`)
    if (node === false) {
      report(path, "false", "widened", "There is no schema that nothing fits.")
      return { type: "null" }
    }
    if (node === true) return anything(path, {})
    if (typeof node.$ref === "string") return lowerReference(node, path, trail)
    const inner = [...trail, node]
    if (Array.isArray(node.allOf)) {
      const { allOf, ...beside } = node
      const conflict = (keyword: string): void =>
        report(path, keyword, "widened", "Parts of allOf give it values that cannot be joined.")
      const whole = schemasIn(allOf).reduce<AnySchema>((sum, part) => merge(sum, deref(part, path), conflict), beside)
      return lowerNode(whole, path, inner)
    }
    for (const keyword of ["oneOf", "anyOf"] as const) {
      if (Array.isArray(node[keyword])) return lowerUnion(node, keyword, path, inner)
    }
    return lowerPlain(node, path, inner)
  }

  function lowerReference(node: JsonSchema, path: string, trail: AnySchema[]): JsonSchema {
    const found = follow(node.$ref!, path)
    deref(node, path)
    const beside = Object.keys(node).filter(
      (keyword) => keyword !== "$ref" && !ANNOTATIONS.has(keyword) && !BOOKKEEPING.has(keyword),
    )
    const isRecursive = trail.includes(found) || definitions.has(found) || reaches(found, found)
    if (!profile.references || (beside.length > 0 && !trail.includes(found)) || !isRecursive) {
      if (!trail.includes(found)) return lowerNode(deref(node, path), path, [...trail, found])
      report(path, "$ref", "widened", "A schema that contains itself cannot be expressed here.")
      return anything(path, { type: isSchema(found) ? found.type : undefined })
    }
    for (const keyword of beside)
      report(path, keyword, "widened", "It stands beside a reference to a schema that contains itself.")
    let name = definitions.get(found)
    if (name === undefined) {
      name = found === schema ? "root" : (node.$ref!.split("/").at(-1) ?? "").replace(/\W+/g, "_") || "definition"
      while (Object.hasOwn(lowered, name)) name += "_"
      definitions.set(found, name)
      lowered[name] = {}
      lowered[name] = lowerNode(found, pointerOf(node.$ref!), [])
    }
    return { $ref: `#/$defs/${name}` }
  }

  /** Whether a schema contains a reference that leads back to `goal`. */
  function reaches(from: unknown, goal: AnySchema, seen = new Set<unknown>()): boolean {
    if (typeof from !== "object" || from === null || seen.has(from)) return false
    seen.add(from)
    return Object.entries(from).some(([key, value]) => {
      if (key !== "$ref" || typeof value !== "string") return reaches(value, goal, seen)
      const next = resolve(schema, value)
      return next === goal || reaches(next, goal, seen)
    })
  }

  function lowerUnion(node: JsonSchema, keyword: "anyOf" | "oneOf", path: string, trail: AnySchema[]): JsonSchema {
    const { [keyword]: list, ...beside } = node
    const conflict = (name: string): void =>
      report(path, name, "widened", `It stands beside ${keyword} with branches that have another value.`)
    const { description, title, ...constraints } = beside
    const branches = schemasIn(list)
      .map((branch) => merge(constraints, deref(branch, path), conflict))
      .filter((branch) => branch !== false)
    if (keyword === "oneOf" && !areDisjoint(branches)) {
      report(path, "oneOf", "widened", "Treated as anyOf: a value may fit several branches.")
    }
    const texts = { ...(description === undefined ? {} : { description }), ...(title === undefined ? {} : { title }) }
    const lists = branches.map((branch, index) => lowerNode(branch, `${path}/${keyword}/${index}`, trail))
    return joinBranches(lists, texts)
  }

  /** Branches as `anyOf`; a lone one stands for itself, and `null` is written as the target wants it. */
  function joinBranches(list: JsonSchema[], texts: JsonSchema): JsonSchema {
    const flat = list.flatMap((branch) =>
      branch.anyOf !== undefined && Object.keys(branch).length === 1 ? branch.anyOf : [branch],
    )
    const unique = flat.filter((branch, index) => flat.findIndex((other) => same(branch, other)) === index)
    const values = profile.nulls === "nullable" ? unique.filter((branch) => branch.type !== "null") : unique
    const nullable = values.length < unique.length ? { nullable: true } : {}
    if (values.length === 1) return { ...values[0], ...texts, ...nullable }
    return { ...texts, anyOf: values, ...nullable }
  }

  function lowerPlain(node: JsonSchema, path: string, trail: AnySchema[]): JsonSchema {
    const { type, nullable, ...rest } = node
    const given = typesOf(type)
    const types = given.length > 0 ? [...given] : impliedTypes(rest)
    if (nullable === true && types.length > 0 && !types.includes("null")) types.push("null")
    if (types.length === 0) return anything(path, rest)
    if (given.length === 0) report(path, "type", "narrowed", `Without a type it is read as ${types[0]}.`)
    const plain = types.filter((each) => each !== "null")
    const values = rest.const === undefined ? rest.enum : [rest.const]
    const canBeNull = types.length > plain.length && (!Array.isArray(values) || values.includes(null))
    if (plain.length === 0) return { type: "null", ...(profile.nulls === "nullable" ? { nullable: true } : {}) }
    if (plain.length === 1) {
      const single = lowerTyped(plain[0]!, rest, path, trail)
      return canBeNull ? withNull(single, profile) : single
    }
    const branches = plain.map((each) => lowerTyped(each, applicable(each, rest), path, trail))
    const { description, title } = rest
    const texts = { ...(description === undefined ? {} : { description }), ...(title === undefined ? {} : { title }) }
    return joinBranches(canBeNull ? [...branches, { type: "null" }] : branches, texts)
  }

  function lowerTyped(type: string, given: JsonSchema, path: string, trail: AnySchema[]): JsonSchema {
    const node = type === "object" ? withPatterns(given) : given
    const result: JsonSchema = { type }
    const lost: string[] = []
    const keywords = profile.keywords as ReadonlySet<string>
    const drop = (keyword: string, value: unknown, reason: string, effect: Loss["effect"] = "widened"): void => {
      report(path, keyword, effect, reason)
      const text = typeof value === "string" ? value : JSON.stringify(value)
      const isWorthSaying = effect !== "annotation" || keyword === "default" || keyword === "examples"
      if (isWorthSaying && text.length <= MAX_REMARK) lost.push(`${keyword}: ${text}`)
    }
    const entries = normalised(node)
    for (const [keyword, value] of entries) {
      if (BOOKKEEPING.has(keyword)) continue
      if (ANNOTATIONS.has(keyword)) {
        if (profile.annotations.has(keyword)) result[keyword] = value
        else if (keyword !== "$comment") drop(keyword, value, "The target has no place for it.", "annotation")
        continue
      }
      if (value === true && keyword === "additionalProperties" && !profile.closed) continue
      if (!keywords.has(keyword) && keyword !== "const") {
        if (keyword !== "uniqueItems" || value === true)
          drop(keyword, value, "The target does not know it.", isAssertion(keyword) ? "widened" : "annotation")
        continue
      }
      lowerKeyword(result, keyword, value, type, node, path, trail, drop)
    }
    if (profile.closed && type === "object") close(result, node, path)
    if (type === "array" && result.items === undefined && !profile.anyValue)
      result.items = anything(`${path}/items`, {})
    if (lost.length > 0)
      result.description = [result.description, lost.join("; ")]
        .filter((text) => text !== undefined && text !== "")
        .join("\n")
    return result
  }

  function lowerKeyword(
    result: JsonSchema,
    keyword: string,
    value: unknown,
    type: string,
    node: JsonSchema,
    path: string,
    trail: AnySchema[],
    drop: (keyword: string, value: unknown, reason: string) => void,
  ): void {
    switch (keyword) {
      case "properties": {
        const properties: Record<string, JsonSchema> = {}
        for (const [name, schemaOf] of schemaMap(value))
          define(properties, name, lowerNode(schemaOf, `${path}/properties/${escape(name)}`, trail))
        result.properties = properties
        return
      }
      case "items":
        if (isSchema(value)) result.items = lowerNode(value, `${path}/items`, trail)
        else if (value === false) result.items = false
        return
      case "prefixItems":
        result.prefixItems = schemasIn(value).map((each, index) =>
          lowerNode(each, `${path}/prefixItems/${index}`, trail),
        )
        return
      case "additionalProperties":
        if (!profile.closed)
          result.additionalProperties = isSchema(value)
            ? lowerNode(value, `${path}/additionalProperties`, trail)
            : (value as boolean)
        return
      case "format":
        if (profile.formats.has(String(value))) result.format = value
        else drop("format", value, `The target does not know the format ${String(value)}.`)
        return
      case "const":
      case "enum": {
        const values = (keyword === "const" ? [value] : (value as unknown[])).filter((each) => fits(each, type))
        if (!profile.stringEnums || values.every((each) => typeof each === "string")) result.enum = values
        else drop(keyword, value, "Only strings can be enumerated.")
        return
      }
      case "pattern":
        if (target !== "llama.cpp-gbnf") result.pattern = value
        else if (!/^\^[^]*\$$/.test(String(value)) || node.minLength !== undefined || node.maxLength !== undefined) {
          drop("pattern", value, "Only a pattern from ^ to $ is supported, and only without bounds of length.")
        } else result.pattern = value
        return
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        if (target === "llama.cpp-gbnf" && type === "number")
          drop(keyword, value, "Bounds are supported for integers only.")
        else result[keyword] = value
        return
      default:
        result[keyword] = value
    }
  }

  /** Strict mode: nothing but the named properties, and all of them; the optional ones may be null. */
  function close(result: JsonSchema, node: JsonSchema, path: string): void {
    const free = node.additionalProperties
    const isMap = free === undefined && node.properties === undefined
    if (isMap || (free !== undefined && free !== false))
      report(path, "additionalProperties", "narrowed", "Only named properties can be produced.")
    const properties = result.properties ?? {}
    const required = new Set(result.required)
    for (const name of required)
      if (!Object.hasOwn(properties, name)) define(properties, name, anything(`${path}/properties/${escape(name)}`, {}))
    for (const name of Object.keys(properties)) {
      if (!required.has(name)) define(properties, name, withNull(properties[name]!, profile))
    }
    result.properties = properties
    result.required = Object.keys(properties)
    result.additionalProperties = false
  }

  /** Any value, or one of a list of mixed types. */
  function anything(path: string, node: JsonSchema): JsonSchema {
    const known = Object.entries(normalised(node)).length > 0 ? typesOf(node.type) : []
    const values = node.const === undefined ? node.enum : [node.const]
    if (Array.isArray(values)) return joinBranches(enumBranches(values, node, path), {})
    if (known.length > 0) return lowerPlain({ type: known }, path, [])
    if (Object.keys(node).some(isAssertion))
      return joinBranches(
        TYPES.map((type) => lowerTyped(type, applicable(type, node), path, [{}])),
        {},
      )
    const texts: JsonSchema = {}
    for (const [keyword, value] of Object.entries(node)) if (profile.annotations.has(keyword)) texts[keyword] = value
    if (profile.anyValue) return texts
    report(path, "type", "narrowed", "A value of any type is offered as text, a number or a truth value.")
    return joinBranches(
      ["string", "number", "boolean"].map((type) => ({ type })),
      texts,
    )
  }

  function enumBranches(values: unknown[], node: JsonSchema, path: string): JsonSchema[] {
    const { enum: _enum, const: _const, ...rest } = node
    const groups = new Map<string, unknown[]>()
    for (const value of values) groups.set(typeOf(value), [...(groups.get(typeOf(value)) ?? []), value])
    return Array.from(groups, ([type, list]) =>
      type === "null" ? { type } : lowerTyped(type, { ...rest, enum: list }, path, []),
    )
  }
}

function noObject(): ToolwrightError {
  return new ToolwrightError("INVALID_SCHEMA", "The parameters of a tool must be an object schema.", {
    hint: 'Give the root "type": "object".',
  })
}
