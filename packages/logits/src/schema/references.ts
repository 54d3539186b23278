/** Where `$ref` leads, within one document. */
import {
  dialectOf,
  type SchemaDialect,
  isObject,
  isSchema,
  type Schema,
  subschemas,
  unescapePointer,
} from "./json-schema.ts"
import { SchemaProblem } from "./types.ts"

/** A schema with what is needed to read it. */
export interface Located {
  readonly schema: Schema
  /** A JSON pointer from the document's root, with `#`. */
  readonly path: string
  /** The URI against which its references are resolved. */
  readonly base: string
  readonly dialect: SchemaDialect
}

export interface References {
  readonly root: Located
  below(parent: Located, path: string, schema: Schema): Located
  /** @throws SchemaProblem where the reference leads out of the document or nowhere */
  resolve(from: Located, reference: string): Located
  /**
   * The one schema with that `$dynamicAnchor`; undefined where there are none or several, which only a run can tell
   * apart.
   */
  dynamic(from: Located, reference: string): Located | undefined
}

const ROOT = "json-schema:///root"
const MAX_NODES = 150_000
const MAX_DEPTH = 400

/**
 * @param spend counts the sub-schemas
 * @throws SchemaProblem where the document is too large
 */
export function indexReferences(document: Schema, spend: (units: number) => void): References {
  return new ReferenceIndex(document, spend)
}

/** The sub-schemas of one document by their addresses. */
class ReferenceIndex implements References {
  readonly #spend: (units: number) => void
  readonly #byUri = new Map<string, Located>()
  readonly #dynamicAnchors = new Map<string, Located[]>()
  readonly root: Located
  #nodes = 0

  constructor(document: Schema, spend: (units: number) => void) {
    this.#spend = spend
    this.root = this.#locate({ schema: document, path: "#", base: ROOT, dialect: dialectOf(document) })
    this.#byUri.set(ROOT, this.root)
    this.#byUri.set(`${ROOT}#`, this.root)
    this.#index(this.root, 0)
  }

  #locate(at: Located): Located {
    const { schema, dialect } = at
    if (typeof schema !== "object") return at
    const keyword = dialect === "draft-04" ? "id" : "$id"
    const own = dialect === "unnamed" ? (schema["$id"] ?? schema["id"]) : schema[keyword]
    if (typeof own !== "string" || own.startsWith("#")) return at
    if (isOldDialect(dialect) && typeof schema["$ref"] === "string") return at
    const base = resolveUri(own, at.base)
    return base === undefined
      ? at
      : { ...at, base: base.replace(/#$/, ""), dialect: schema["$schema"] === undefined ? dialect : dialectOf(schema) }
  }

  #index(at: Located, depth: number): void {
    this.#spend(0.5)
    if (++this.#nodes > MAX_NODES) throw new SchemaProblem(`the schema has more than ${MAX_NODES} sub-schemas`)
    if (depth > MAX_DEPTH) throw new SchemaProblem(`the schema is nested more than ${MAX_DEPTH} deep`)
    const { schema } = at
    if (typeof schema !== "object") return
    for (const keyword of ["$id", "id"]) {
      if (typeof schema[keyword] !== "string") continue
      if (schema[keyword].startsWith("#")) this.#byUri.set(at.base + schema[keyword], at)
      else if (!this.#byUri.has(at.base)) this.#byUri.set(at.base, at)
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      if (typeof schema[keyword] === "string") this.#byUri.set(`${at.base}#${schema[keyword]}`, at)
    }
    if (typeof schema["$dynamicAnchor"] === "string") {
      const others = this.#dynamicAnchors.get(schema["$dynamicAnchor"]) ?? []
      this.#dynamicAnchors.set(schema["$dynamicAnchor"], [...others, at])
    }
    for (const [path, child] of subschemas(schema)) this.#index(this.below(at, path, child), depth + 1)
  }

  below(parent: Located, path: string, schema: Schema): Located {
    return this.#locate({ ...parent, path: parent.path + path, schema })
  }

  resolve(from: Located, reference: string): Located {
    const uri = resolveUri(reference, from.base)
    if (uri === undefined) throw new SchemaProblem(`"${reference}" is not a reference`)
    const known = this.#byUri.get(uri)
    if (known !== undefined) return known
    const hash = uri.indexOf("#")
    const document = this.#byUri.get(hash < 0 ? uri : uri.slice(0, hash))
    if (document === undefined)
      throw new SchemaProblem(`"${reference}" leads out of the schema; only references within it are followed`)
    if (hash < 0) return document
    const found = this.#follow(document, uri.slice(hash + 1))
    if (found === undefined) throw new SchemaProblem(`"${reference}" leads nowhere`)
    return found
  }

  #follow(document: Located, fragment: string): Located | undefined {
    let pointer = fragment
    try {
      pointer = decodeURIComponent(fragment)
    } catch {
      // A stray percent sign stands for itself.
    }
    if (pointer === "") return document
    if (!pointer.startsWith("/")) return undefined
    let at: Located = document
    let value: unknown = document.schema
    let path = document.path
    for (const segment of pointer.slice(1).split("/")) {
      const key = unescapePointer(segment)
      path += `/${segment}`
      if (Array.isArray(value)) value = value[Number(key)]
      else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
      else return undefined
      if (isSchema(value)) at = this.#locate({ ...at, path, schema: value })
    }
    return isSchema(value) ? at : undefined
  }

  dynamic(from: Located, reference: string): Located | undefined {
    const initial = this.resolve(from, reference)
    const name = reference.slice(reference.indexOf("#") + 1)
    if (typeof initial.schema !== "object" || initial.schema["$dynamicAnchor"] !== name) return initial
    return this.#dynamicAnchors.get(name)?.length === 1 ? initial : undefined
  }
}

export const isOldDialect = (dialect: SchemaDialect): boolean => dialect.startsWith("draft-")

function resolveUri(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href
  } catch {
    return reference.startsWith("#") ? base + reference : undefined
  }
}
