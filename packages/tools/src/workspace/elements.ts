import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"

/** An expression as source text, told apart from a text value. */
export interface Code {
  readonly code: string
}

export interface Parameter {
  name: string
  type?: string
  default?: unknown
}

export interface FunctionElement {
  kind: "function"
  name: string
  docstring?: string
  parameters: Parameter[]
  returnType?: string
  body: string
  decorators: string[]
  async: boolean
  /** Of a method: it belongs to the class, not to an object. */
  static: boolean
}

export interface Field {
  name: string
  type?: string
  default?: unknown
  docstring?: string
}

export interface ClassElement {
  kind: "class" | "dataclass" | "interface"
  name: string
  docstring?: string
  bases: string[]
  fields: Field[]
  methods: FunctionElement[]
  decorators: string[]
}

export interface ImportElement {
  kind: "import"
  name: string
  /** What is taken from the module; empty: the module itself. */
  names: { name: string; alias?: string }[]
  alias?: string
  default?: string
}

export interface VariableElement {
  kind: "variable"
  name: string
  type?: string
  value?: unknown
  docstring?: string
  mutable: boolean
}

/** A part of a source file, as structured data. An import is named by its module. */
export type Element = FunctionElement | ClassElement | ImportElement | VariableElement

export const ELEMENT_TYPES = ["function", "method", "class", "dataclass", "interface", "import", "variable"] as const

/** A method and the class that it belongs to. */
export interface MethodOf {
  method: FunctionElement
  className: string
}

/**
 * Reads a JSON artifact `{ element_type, element_data }`. Other spellings that models use are understood (`params`,
 * `returns`, `code`, …).
 *
 * @returns the element, or a method with the name of its class
 * @throws ToolwrightError `INVALID_ARTIFACT`, whose message names the field (as a JSON pointer) and whose hint shows a
 *   right artifact
 */
export function readArtifact(artifact: unknown): Element | MethodOf {
  const { element_type: type, element_data: data } = asObject(artifact, "", "json_artifact")
  if (!(ELEMENT_TYPES as readonly unknown[]).includes(type)) {
    throw invalid(
      "/element_type",
      `must be one of ${ELEMENT_TYPES.join(", ")}, not ${JSON.stringify(type) ?? "absent"}`,
    )
  }
  const fields = asObject(data, "/element_data", "element_data")
  const at = "/element_data"
  switch (type) {
    case "function":
      return readFunction(fields, at)
    case "method":
      return {
        method: readFunction(fields, at),
        className: identifier(fields.class_name ?? fields.class ?? fields.parent, `${at}/class_name`),
      }
    case "import":
      return readImport(fields, at)
    case "variable":
      return readVariable(fields, at)
    default:
      return readClass(type as ClassElement["kind"], fields, at)
  }
}

function readFunction(data: JsonObject, at: string): FunctionElement {
  const name = identifier(data.name, `${at}/name`)
  const body = text(data.body ?? data.code ?? data.implementation, `${at}/body`)
  if (body === undefined || body.trim() === "") {
    throw invalid(`${at}/body`, "is missing or empty; give the statements of the function, without its header")
  }
  const header = new RegExp(
    String.raw`^\s*(?:export\s+)?(?:async\s+)?(?:def|function)\s+${name.replaceAll("$", "\\$")}\s*\(`,
    "u",
  )
  if (header.test(body))
    throw invalid(`${at}/body`, `repeats the header of '${name}'; give only the statements inside it`)
  const returnType = text(data.return_type ?? data.returns ?? data.returnType, `${at}/return_type`)
  return {
    kind: "function",
    name,
    ...documented(data, at),
    parameters: list(data.parameters ?? data.params ?? data.args, `${at}/parameters`).map((one, index) =>
      readParameter(one, `${at}/parameters/${index}`),
    ),
    ...(returnType === undefined || returnType.trim() === ""
      ? {}
      : { returnType: oneLine(returnType, `${at}/return_type`) }),
    body,
    decorators: list(data.decorators, `${at}/decorators`).map((one, index) =>
      oneLine(String(one), `${at}/decorators/${index}`).replace(/^@/u, ""),
    ),
    async: data.async === true || data.is_async === true,
    static: data.static === true || data.is_static === true,
  }
}

function readParameter(value: unknown, at: string): Parameter {
  const data = typeof value === "string" ? parameterText(value) : asObject(value, at, "a parameter")
  const name = typeof data.name === "string" ? data.name : ""
  if (!/^(?:\*{0,2}|\.\.\.)[\p{L}_$][\p{L}\p{N}_$]*$|^[*/]$/u.test(name))
    throw invalid(`${at}/name`, `must be a name, not ${JSON.stringify(data.name) ?? "absent"}`)
  const type = text(data.type, `${at}/type`)
  return {
    name,
    ...(type === undefined || type.trim() === "" ? {} : { type: oneLine(type, `${at}/type`) }),
    // null is how models say that there is none; the value None or null is written as { "code": "None" }.
    ...(data.default === undefined || data.default === null ? {} : { default: data.default }),
  }
}

function parameterText(value: string): JsonObject {
  const match = /^\s*([^:=\s]+)\s*(?::\s*([^=]+?))?\s*(?:=\s*(.+))?$/u.exec(value)
  return {
    name: match?.[1] ?? value,
    ...(match?.[2] === undefined ? {} : { type: match[2] }),
    ...(match?.[3] === undefined ? {} : { default: { code: match[3] } }),
  }
}

function readClass(kind: ClassElement["kind"], data: JsonObject, at: string): ClassElement {
  const bases = data.bases ?? data.base_classes ?? data.extends ?? data.inherits
  return {
    kind,
    name: identifier(data.name, `${at}/name`),
    ...documented(data, at),
    bases: (typeof bases === "string" ? [bases] : list(bases, `${at}/bases`)).map((one, index) =>
      oneLine(String(one), `${at}/bases/${index}`),
    ),
    fields: list(data.fields ?? data.attributes ?? data.properties, `${at}/fields`).map((one, index) =>
      readField(one, `${at}/fields/${index}`),
    ),
    methods: list(data.methods, `${at}/methods`).map((one, index) => {
      const fields = asObject(one, `${at}/methods/${index}`, "a method")
      // In an interface a method has no body.
      return readFunction(
        kind === "interface" && fields.body === undefined ? { ...fields, body: "..." } : fields,
        `${at}/methods/${index}`,
      )
    }),
    decorators: list(data.decorators, `${at}/decorators`).map((one, index) =>
      oneLine(String(one), `${at}/decorators/${index}`).replace(/^@/u, ""),
    ),
  }
}

/** Reads a field of a class. @throws ToolwrightError `INVALID_ARTIFACT` */
export function readField(value: unknown, at: string): Field {
  const data = typeof value === "string" ? parameterText(value) : asObject(value, at, "a field")
  const type = text(data.type, `${at}/type`)
  const initial = data.default ?? data.value
  return {
    name: identifier(data.name, `${at}/name`),
    ...(type === undefined || type.trim() === "" ? {} : { type: oneLine(type, `${at}/type`) }),
    ...(initial === undefined || initial === null ? {} : { default: initial }),
    ...documented(data, at),
  }
}

function readImport(data: JsonObject, at: string): ImportElement {
  const module = text(data.module ?? data.name ?? data.from ?? data.source, `${at}/module`)
  if (module === undefined || module.trim() === "" || /[\s"'`;\\]/u.test(module))
    throw invalid(`${at}/module`, "must name a module, such as math or ./board.ts")
  const names = data.names ?? data.items ?? data.imports
  const listed = typeof names === "string" ? names.split(",") : list(names, `${at}/names`)
  return {
    kind: "import",
    name: module,
    names: listed.map((one, index) => readImportedName(one, `${at}/names/${index}`)),
    ...identifierIn(data, "alias", at),
    ...(data.default === false ? {} : identifierIn(data, "default", at)),
  }
}

function readImportedName(one: unknown, at: string): ImportElement["names"][number] {
  const [name, alias] = typeof one === "string" ? one.trim().split(/\s+as\s+/u) : []
  const given = typeof one === "string" ? { name, alias } : asObject(one, at, "an imported name")
  return {
    name: given.name === "*" ? "*" : identifier(given.name, `${at}/name`),
    ...identifierIn(given, "alias", at),
  }
}

/** A field that holds an identifier, where there is one. */
function identifierIn<Name extends string>(
  data: { readonly [key: string]: unknown },
  name: Name,
  at: string,
): { [Key in Name]?: string } {
  const value = data[name]
  if (value === undefined || value === null) return {}
  return { [name]: identifier(value, `${at}/${name}`) } as { [Key in Name]?: string }
}

function readVariable(data: JsonObject, at: string): VariableElement {
  const type = text(data.type, `${at}/type`)
  const value = data.value === undefined ? data.default : data.value
  if (value === undefined && type === undefined) throw invalid(`${at}/value`, "is missing")
  return {
    kind: "variable",
    name: identifier(data.name, `${at}/name`),
    ...(type === undefined || type.trim() === "" ? {} : { type: oneLine(type, `${at}/type`) }),
    ...(value === undefined ? {} : { value }),
    ...documented(data, at),
    mutable: data.mutable === true || data.constant === false,
  }
}

function documented(data: JsonObject, at: string): { docstring?: string } {
  const docstring = text(data.docstring ?? data.description ?? data.doc, `${at}/docstring`)
  return docstring === undefined || docstring.trim() === "" ? {} : { docstring }
}

function identifier(value: unknown, at: string): string {
  if (typeof value === "string" && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(value.trim())) return value.trim()
  throw invalid(at, `must be a name such as fibonacci, not ${JSON.stringify(value) ?? "absent"}`)
}

function text(value: unknown, at: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === "string") return value
  if (Array.isArray(value) && value.every((line) => typeof line === "string")) return value.join("\n")
  throw invalid(at, `must be a text, not ${JSON.stringify(value)}`)
}

function oneLine(value: string, at: string): string {
  if (/[\r\n\u2028\u2029]/u.test(value.trim())) throw invalid(at, "must be on one line")
  return value.trim()
}

function list(value: unknown, at: string): unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw invalid(at, `must be a list, not ${JSON.stringify(value)}`)
}

function asObject(value: unknown, at: string, what: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject
  throw invalid(
    at || "/",
    `${what} must be an object, not ${Array.isArray(value) ? "a list" : (JSON.stringify(value) ?? "absent")}`,
  )
}

function invalid(at: string, problem: string): ToolwrightError {
  return new ToolwrightError("INVALID_ARTIFACT", `json_artifact${at === "/" ? "" : at} ${problem}.`, {
    hint: `A right artifact: ${SAMPLE}`,
  })
}

const SAMPLE = JSON.stringify({
  element_type: "function",
  element_data: {
    name: "area",
    docstring: "The area of a circle.",
    parameters: [{ name: "radius", type: "float" }],
    return_type: "float",
    body: 'if radius < 0:\n    raise ValueError("negative radius")\nreturn 3.14159 * radius ** 2',
  },
})
