import type { ClassElement, Element, Field, FunctionElement, ImportElement, VariableElement } from "./elements.ts"
import { dedent, indent } from "./source-lines.ts"
import { printType, printValue } from "./values.ts"

const MARGIN = "    "
const WIDTH = 100

/** An element as Python source, without a line end after it. */
export function printPython(element: Element): string {
  switch (element.kind) {
    case "function":
      return printFunction(element)
    case "import":
      return printImport(element)
    case "variable":
      return printVariable(element)
    default:
      return printClass(element)
  }
}

/** Imports that the elements need although nobody named them. */
export function impliedPythonImports(elements: readonly Element[]): ImportElement[] {
  const implied: ImportElement[] = []
  const dataclasses = elements.filter((element): element is ClassElement => element.kind === "dataclass")
  if (dataclasses.length > 0) {
    const needsField = dataclasses.some((one) => one.fields.some(isMutable))
    implied.push({
      kind: "import",
      name: "dataclasses",
      names: [{ name: "dataclass" }, ...(needsField ? [{ name: "field" }] : [])],
    })
  }
  if (elements.some((element) => element.kind === "interface"))
    implied.push({ kind: "import", name: "typing", names: [{ name: "Protocol" }] })
  return implied
}

/** A documentation text as a Python string literal whose cleaned value (PEP 257) is that text. */
export function pythonDocstring(docstring: string): string {
  const text = dedent(docstring.trim(), "text")
    .replaceAll("\\", "\\\\")
    .replaceAll('"""', '\\"\\"\\"')
    .replace(/"$/u, '\\"')
  return text.includes("\n") ? `"""${text}\n"""` : `"""${text}"""`
}

function printFunction(element: FunctionElement, receiver?: string): string {
  const own = element.parameters.map((parameter) => {
    const type = parameter.type === undefined ? "" : `: ${printType(parameter.type, "python")}`
    const initial =
      parameter.default === undefined
        ? ""
        : `${type === "" ? "=" : " = "}${printValue(parameter.default, parameter.type, "python")}`
    return parameter.name.replace(/^\.\.\./u, "*") + type + initial
  })
  const parameters = receiver === undefined || own[0] === receiver ? own : [receiver, ...own]
  const returns = element.returnType === undefined ? "" : ` -> ${printType(element.returnType, "python")}`
  const head = `${element.async ? "async " : ""}def ${element.name}`
  const short = `${head}(${parameters.join(", ")})${returns}:`
  const header =
    short.length <= WIDTH ? short : `${head}(\n${parameters.map((one) => `${MARGIN}${one},\n`).join("")})${returns}:`
  const documentation = element.docstring === undefined ? [] : [indentText(pythonDocstring(element.docstring))]
  const body = indent(dedent(element.body, "python"), MARGIN, "python")
  return [...element.decorators.map((one) => `@${one}`), header, ...documentation, body].join("\n")
}

function printClass(element: ClassElement): string {
  const bases = element.kind === "interface" ? [...element.bases, "Protocol"] : element.bases
  const isDataclass =
    element.kind === "dataclass" && !element.decorators.some((one) => /^(?:dataclasses\.)?dataclass\b/u.test(one))
  const header = `class ${element.name}${bases.length === 0 ? "" : `(${bases.join(", ")})`}:`
  const documentation = element.docstring === undefined ? [] : [indentText(pythonDocstring(element.docstring))]
  // A dataclass takes fields without a default first.
  const fields = element.fields.map((field) => MARGIN + printField(field, element.kind === "dataclass"))
  const methods = element.methods.map((method) => indent(printMethod(method), MARGIN, "python"))
  const first = [
    ...documentation,
    ...(documentation.length > 0 && fields.length + methods.length > 0 ? [""] : []),
    ...fields,
  ].join("\n")
  const members = [...(first === "" ? [] : [first.replace(/\n+$/u, "")]), ...methods]
  const inside = members.length === 0 ? `${MARGIN}pass` : members.join("\n\n")
  return [...(isDataclass ? ["@dataclass"] : []), ...element.decorators.map((one) => `@${one}`), header, inside].join(
    "\n",
  )
}

function printMethod(method: FunctionElement): string {
  if (method.decorators.includes("classmethod")) return printFunction(method, "cls")
  if (!method.static && !method.decorators.includes("staticmethod")) return printFunction(method, "self")
  const decorators = method.decorators.includes("staticmethod")
    ? method.decorators
    : ["staticmethod", ...method.decorators]
  return printFunction({ ...method, decorators })
}

function printField(field: Field, inDataclass: boolean): string {
  const type = `: ${printType(field.type ?? "object", "python")}`
  if (field.default === undefined) return field.name + type
  const value = printValue(field.default, field.type, "python")
  const typed = field.type === undefined && !inDataclass ? field.name : field.name + type
  return inDataclass && isMutable(field) ? `${typed} = field(default_factory=lambda: ${value})` : `${typed} = ${value}`
}

/** A list or a dictionary as a default would be shared by all objects; a dataclass refuses it. */
function isMutable(field: Field): boolean {
  if (field.default === undefined) return false
  return /^(?:\[.*\]|\{.*\}|list\(.*\)|dict\(.*\)|set\(.*\))$/su.test(printValue(field.default, field.type, "python"))
}

function printImport(element: ImportElement): string {
  const names = [...(element.default === undefined ? [] : [{ name: element.default }]), ...element.names]
  if (names.length === 0) return `import ${element.name}${element.alias === undefined ? "" : ` as ${element.alias}`}`
  const listed = names.map((one) =>
    "alias" in one && one.alias !== undefined ? `${one.name} as ${one.alias}` : one.name,
  )
  const short = `from ${element.name} import ${listed.join(", ")}`
  return short.length <= WIDTH
    ? short
    : `from ${element.name} import (\n${listed.map((one) => `${MARGIN}${one},\n`).join("")})`
}

function printVariable(element: VariableElement): string {
  const comment =
    element.docstring === undefined
      ? ""
      : `${element.docstring
          .split("\n")
          .map((line) => `# ${line}`.trimEnd())
          .join("\n")}\n`
  const type = element.type === undefined ? "" : `: ${printType(element.type, "python")}`
  const value = element.value === undefined ? "" : ` = ${printValue(element.value, element.type, "python")}`
  return `${comment}${element.name}${type}${value}`
}

/** Indents a documentation text, all of its lines: within it indentation is removed again by whoever reads it. */
function indentText(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? line : MARGIN + line))
    .join("\n")
}
