import { ToolwrightError } from "@toolwright/toolbox"
import type { Element, ImportElement } from "./elements.ts"
import { impliedPythonImports, printPython, pythonDocstring } from "./python.ts"
import { documentation, printTypeScript } from "./typescript.ts"
import type { Language } from "./values.ts"

const LANGUAGES: Record<string, Language> = {
  ".py": "python", ".pyi": "python",
  ".ts": "typescript", ".mts": "typescript", ".cts": "typescript",
  ".js": "javascript", ".mjs": "javascript",
}

/** The language of a file by the end of its name. @throws ToolwrightError `UNSUPPORTED_LANGUAGE` */
export function languageOf(path: string): Language {
  const language = LANGUAGES[/\.\w+$/u.exec(path)?.[0] ?? ""]
  if (language !== undefined) return language
  throw new ToolwrightError("UNSUPPORTED_LANGUAGE", `JSON artifacts become Python, TypeScript or JavaScript; ${path} is none of these.`, {
    hint: `Use a path that ends with ${Object.keys(LANGUAGES).join(", ")}.`,
  })
}

/** A source file as data. */
export interface SourceFile {
  docstring?: string
  elements: Element[]
}

/**
 * Renders a source file: its documentation, its imports, then everything else in the order in which it was added.
 * The same file always gives the same bytes, ending with one line end.
 */
export function renderFile(file: SourceFile, language: Language): string {
  const python = language === "python"
  const elements = python ? withImplied(file.elements) : file.elements
  const print = (element: Element) => (python ? printPython(element) : printTypeScript(element, language))
  const imports = elements.filter((element) => element.kind === "import")
  const future = imports.filter((element) => element.name === "__future__")
  const rest = elements.filter((element) => element.kind !== "import")
  const header = file.docstring === undefined ? [] : [python ? pythonDocstring(file.docstring) : documentation(file.docstring).trimEnd()]
  const blocks = [...header, [...future, ...imports.filter((element) => element.name !== "__future__")].map(print).join("\n")].filter((block) => block !== "")
  let source = blocks.join("\n\n")
  let previous: Element | undefined
  for (const element of rest) {
    const together = previous?.kind === "variable" && element.kind === "variable"
    const gap = source === "" ? "" : together ? "\n" : python && !(element.kind === "variable" && previous === undefined) ? "\n\n\n" : "\n\n"
    source += gap + print(element)
    previous = element
  }
  return source === "" ? "" : `${source}\n`
}

function withImplied(elements: readonly Element[]): Element[] {
  const result = [...elements]
  for (const implied of impliedPythonImports(elements)) {
    const index = result.findIndex((element) => element.kind === "import" && element.name === implied.name && element.alias === undefined)
    if (index === -1) result.unshift(implied)
    else result[index] = mergeImports(result[index] as ImportElement, implied)
  }
  return result
}

/** One import of a module with the names of both. */
export function mergeImports(first: ImportElement, second: ImportElement): ImportElement {
  const names = new Map([...first.names, ...second.names].map((one) => [`${one.name} ${one.alias ?? ""}`, one]))
  return { ...first, ...second, names: [...names.values()] }
}
