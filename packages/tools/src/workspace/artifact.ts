import type { JsonObject } from "@toolwright/toolbox"
import { readArtifact, type ClassElement, type Element, type Field, type FunctionElement } from "./elements.ts"

/** An element as models write it and as `.meta` keeps it. */
export interface Artifact {
  element_type: string
  element_data: JsonObject
}

/** The artifact of an element; {@link readArtifact} of it is the element again. */
export function toArtifact(element: Element): Artifact {
  return { element_type: element.kind, element_data: dataOf(element) }
}

/** The element of an artifact that `.meta` keeps. */
export function fromArtifact(artifact: Artifact): Element {
  const element = readArtifact(artifact)
  if ("method" in element) throw new TypeError("A method is kept in its class.")
  return element
}

function dataOf(element: Element): JsonObject {
  switch (element.kind) {
    case "function":
      return functionData(element)
    case "import": {
      const { name, names, alias, default: fallback } = element
      return {
        module: name,
        names,
        ...(alias === undefined ? {} : { alias }),
        ...(fallback === undefined ? {} : { default: fallback }),
      }
    }
    case "variable": {
      const { name, type, value, docstring, mutable } = element
      return { name, ...optional({ type, value, docstring }), ...(mutable ? { mutable } : {}) }
    }
    default:
      return classData(element)
  }
}

function functionData(element: FunctionElement): JsonObject {
  const { name, docstring, parameters, returnType, body, decorators } = element
  return {
    name,
    ...optional({ docstring }),
    parameters,
    ...optional({ return_type: returnType }),
    body,
    ...(decorators.length === 0 ? {} : { decorators }),
    ...(element.async ? { async: true } : {}),
    ...(element.static ? { static: true } : {}),
  }
}

function classData(element: ClassElement): JsonObject {
  const { name, docstring, bases, fields, methods, decorators } = element
  return {
    name,
    ...optional({ docstring }),
    ...(bases.length === 0 ? {} : { bases }),
    fields: fields.map((field: Field) => ({ ...field })),
    methods: methods.map(functionData),
    ...(decorators.length === 0 ? {} : { decorators }),
  }
}

function optional(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
