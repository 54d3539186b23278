import { ToolwrightError } from "@toolwright/toolbox"
import type { ClassElement, Element, FunctionElement, ImportElement, Parameter, VariableElement } from "./elements.ts"
import { dedent, indent } from "./source-lines.ts"
import { printType, printValue, type Language } from "./values.ts"

const MARGIN = "  "
const WIDTH = 100

/** An element as TypeScript, or as JavaScript without the types; no line end after it. */
export function printTypeScript(element: Element, language: Exclude<Language, "python">): string {
  const printer = { language, types: language === "typescript" }
  switch (element.kind) {
    case "function":
      return `${documentation(element.docstring)}export ${printFunction(element, "function ", printer)}`
    case "import":
      return printImport(element)
    case "variable":
      return printVariable(element, printer)
    case "interface":
      return printInterface(element, printer)
    default:
      return printClass(element, printer)
  }
}

interface Printer {
  readonly language: Exclude<Language, "python">
  readonly types: boolean
}

/** A documentation text as a JSDoc comment, with a line end; empty when there is none. */
export function documentation(docstring: string | undefined): string {
  if (docstring === undefined) return ""
  const text = dedent(docstring.trim(), "text").replaceAll("*/", "*\\/")
  return text.includes("\n")
    ? `/**\n${text
        .split("\n")
        .map((line) => ` * ${line}`.trimEnd())
        .join("\n")}\n */\n`
    : `/** ${text} */\n`
}

function printFunction(element: FunctionElement, keyword: string, printer: Printer): string {
  const parameters = element.parameters
    .filter((one) => one.name !== "self" && one.name !== "this")
    .map((one) => printParameter(one, printer))
  const wanted = element.returnType === undefined ? "" : printType(element.returnType, printer.language)
  const returns =
    !printer.types || wanted === ""
      ? ""
      : `: ${element.async && !wanted.startsWith("Promise<") ? `Promise<${wanted}>` : wanted}`
  const head = `${element.async ? "async " : ""}${keyword}${element.name}`
  const short = `${head}(${parameters.join(", ")})${returns} {`
  const header =
    short.length <= WIDTH ? short : `${head}(\n${parameters.map((one) => `${MARGIN}${one},\n`).join("")})${returns} {`
  return `${header}\n${indent(dedent(element.body, "javascript"), MARGIN, "javascript")}\n}`
}

function printParameter(parameter: Parameter, printer: Printer): string {
  const name = parameter.name.replace(/^\*{1,2}/u, "...")
  const type = !printer.types || parameter.type === undefined ? "" : `: ${printType(parameter.type, printer.language)}`
  return (
    name +
    type +
    (parameter.default === undefined ? "" : ` = ${printValue(parameter.default, parameter.type, printer.language)}`)
  )
}

function printClass(element: ClassElement, printer: Printer): string {
  const fields = element.fields.map((field) => {
    const type = !printer.types || field.type === undefined ? "" : `: ${printType(field.type, printer.language)}`
    const initial =
      field.default === undefined || element.kind === "dataclass"
        ? ""
        : ` = ${printValue(field.default, field.type, printer.language)}`
    return `${documentation(field.docstring)}${field.name}${type}${initial}`
  })
  const methods = element.methods.map((method) => printMethod(method, printer))
  const hasConstructor = element.methods.some((method) => method.name === "constructor" || method.name === "__init__")
  const constructor =
    element.kind === "dataclass" && !hasConstructor && element.fields.length > 0
      ? [printConstructor(element, printer)]
      : []
  const members = [...(fields.length > 0 ? [fields.join("\n")] : []), ...constructor, ...methods]
  const [base, ...more] = element.bases
  const parents = base === undefined ? "" : ` extends ${base}`
  const heritage = printer.types && more.length > 0 ? `${parents} implements ${more.join(", ")}` : parents
  const inside = members.map((member) => indent(member, MARGIN, "javascript")).join("\n\n")
  return (
    `${documentation(element.docstring)}${decorators(element.decorators)}export class ${element.name}${heritage} ` +
    `{\n${inside}${inside === "" ? "" : "\n"}}`
  )
}

function printConstructor(element: ClassElement, printer: Printer): string {
  const parameters = element.fields.map((field) => printParameter(field, printer))
  const body = element.fields.map((field) => `${MARGIN}this.${field.name} = ${field.name}`).join("\n")
  const parent = element.bases.length > 0 ? `${MARGIN}super()\n` : ""
  return `constructor(${parameters.join(", ")}) {\n${parent}${body}\n}`
}

function printMethod(method: FunctionElement, printer: Printer): string {
  const isConstructor = method.name === "__init__" || method.name === "constructor"
  const { returnType: _, ...withoutReturn } = method
  const named = isConstructor ? { ...withoutReturn, name: "constructor" } : method
  const isStatic = method.static || method.decorators.includes("staticmethod")
  const kept = method.decorators.filter((one) => one !== "staticmethod")
  const accessor = kept.includes("property") ? "get " : ""
  return (
    documentation(method.docstring) +
    decorators(kept.filter((one) => one !== "property")) +
    (isStatic ? "static " : "") +
    printFunction(named, accessor, printer)
  )
}

function printInterface(element: ClassElement, printer: Printer): string {
  if (!printer.types) {
    throw new ToolwrightError(
      "INVALID_ARTIFACT",
      `JavaScript has no interfaces; '${element.name}' cannot be written there.`,
      {
        hint: "Write it to a .ts file, or use element_type class.",
      },
    )
  }
  const fields = element.fields.map(
    (field) => `${documentation(field.docstring)}${field.name}: ${printType(field.type ?? "unknown", "typescript")}`,
  )
  const methods = element.methods.map((method) => {
    const parameters = method.parameters
      .filter((one) => one.name !== "self")
      .map((one) => {
        const { default: initial, ...rest } = one
        return printParameter({ ...rest, name: initial === undefined ? one.name : `${one.name}?` }, printer)
      })
    const returns = printType(method.returnType ?? "void", "typescript")
    return (
      `${documentation(method.docstring)}${method.name}(${parameters.join(", ")}): ` +
      `${method.async ? `Promise<${returns}>` : returns}`
    )
  })
  const members = [...fields, ...methods].map((member) => `${indent(member, MARGIN, "javascript")}\n`).join("")
  const heritage = element.bases.length === 0 ? "" : ` extends ${element.bases.join(", ")}`
  return `${documentation(element.docstring)}export interface ${element.name}${heritage} {\n${members}}`
}

function printImport(element: ImportElement): string {
  const from = ` from ${JSON.stringify(element.name)}`
  const names = element.names.map((one) => (one.alias === undefined ? one.name : `${one.name} as ${one.alias}`))
  if (element.names.some((one) => one.name === "*"))
    return `import * as ${element.names[0]!.alias ?? element.alias ?? lastPart(element.name)}${from}`
  if (element.alias !== undefined && names.length === 0) return `import * as ${element.alias}${from}`
  if (element.default === undefined && names.length === 0) return `import ${JSON.stringify(element.name)}`
  const parts = [
    ...(element.default === undefined ? [] : [element.default]),
    ...(names.length === 0 ? [] : [`{ ${names.join(", ")} }`]),
  ]
  const short = `import ${parts.join(", ")}${from}`
  if (short.length <= WIDTH) return short
  const listed = `{\n${names.map((one) => `${MARGIN}${one},\n`).join("")}}`
  return `import ${[...(element.default === undefined ? [] : [element.default]), listed].join(", ")}${from}`
}

function printVariable(element: VariableElement, printer: Printer): string {
  const type = !printer.types || element.type === undefined ? "" : `: ${printType(element.type, printer.language)}`
  const keyword = element.mutable || element.value === undefined ? "let" : "const"
  const value = element.value === undefined ? "" : ` = ${printValue(element.value, element.type, printer.language)}`
  return `${documentation(element.docstring)}export ${keyword} ${element.name}${type}${value}`
}

const decorators = (list: readonly string[]) => list.map((one) => `@${one}\n`).join("")
const lastPart = (module: string) =>
  module
    .split("/")
    .at(-1)!
    .replace(/\.\w+$/u, "")
    .replace(/\W/gu, "_")
