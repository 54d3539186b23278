import { ToolwrightError } from "@toolwright/toolbox"
import type { ClassElement, Element, Field, MethodOf } from "./elements.ts"
import { mergeImports, type SourceFile } from "./render.ts"

/**
 * Puts an element into a file: it takes the place of the element of the same name, or comes last. An import of a module
 * that is imported already adds its names. Everything else stays as it is.
 *
 * @returns the changed file, and whether an element was replaced
 * @throws ToolwrightError `UNKNOWN_CLASS` for a method of a class that is not there
 */
export function putElement<File extends SourceFile>(
  file: File,
  element: Element | MethodOf,
): { file: File; replaced: boolean } {
  if ("method" in element) {
    const { method, className } = element
    let replaced = false
    const changed = changeClass(file, className, (owner) => {
      const index = owner.methods.findIndex((one) => one.name === method.name)
      replaced = index !== -1
      return { ...owner, methods: put(owner.methods, index, method) }
    })
    return { file: changed, replaced }
  }
  const isImport = element.kind === "import"
  const index = file.elements.findIndex(
    (one) =>
      one.name === element.name && (one.kind === "import") === isImport && (!isImport || sameImport(one, element)),
  )
  const before = file.elements[index]
  const placed = before?.kind === "import" && isImport ? mergeImports(before, element) : element
  return { file: { ...file, elements: put(file.elements, index, placed) }, replaced: before !== undefined }
}

/** Puts a field into a class. @throws ToolwrightError `UNKNOWN_CLASS` */
export function putField<File extends SourceFile>(
  file: File,
  className: string,
  field: Field,
): { file: File; replaced: boolean } {
  let replaced = false
  const changed = changeClass(file, className, (owner) => {
    const index = owner.fields.findIndex((one) => one.name === field.name)
    replaced = index !== -1
    return { ...owner, fields: put(owner.fields, index, field) }
  })
  return { file: changed, replaced }
}

function changeClass<File extends SourceFile>(
  file: File,
  name: string,
  change: (owner: ClassElement) => ClassElement,
): File {
  const isClass = (element: Element): element is ClassElement =>
    element.kind === "class" || element.kind === "dataclass" || element.kind === "interface"
  const index = file.elements.findIndex((element) => isClass(element) && element.name === name)
  const owner = file.elements[index]
  if (owner === undefined || !isClass(owner)) {
    const classes = file.elements.filter(isClass).map((element) => element.name)
    throw new ToolwrightError("UNKNOWN_CLASS", `This file has no class '${name}'.`, {
      hint:
        classes.length === 0
          ? `Add it first: {"action": "add_class", "path": "…", "name": "${name}"}.`
          : `Classes: ${classes.join(", ")}.`,
    })
  }
  return { ...file, elements: put(file.elements, index, change(owner)) }
}

/** `import a` and `from a import b` are two imports; `from a import b` and `from a import c` are one. */
function sameImport(first: Element, second: Element): boolean {
  if (first.kind !== "import" || second.kind !== "import") return false
  const whole = (one: typeof first) => one.names.length === 0 && one.default === undefined
  return whole(first) === whole(second)
}

function put<Item>(list: readonly Item[], index: number, item: Item): Item[] {
  return index === -1 ? [...list, item] : list.map((one, at) => (at === index ? item : one))
}
