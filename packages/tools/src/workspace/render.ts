import { ToolwrightError } from "@toolwright/toolbox"
import type { Element, ImportElement } from "./elements.ts"
import { impliedPythonImports, printPython, pythonDocstring } from "./python.ts"
import { documentation, printTypeScript } from "./typescript.ts"
import { DEFAULT_TEMPLATES, type FileTemplates, type TemplateData } from "./templates.ts"
import type { Language } from "./values.ts"

const LANGUAGES: Record<string, Language> = {
  ".py": "python",
  ".pyi": "python",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".js": "javascript",
  ".mjs": "javascript",
}

/** The language of a file by the end of its name. @throws ToolwrightError `UNSUPPORTED_LANGUAGE` */
export function languageOf(path: string): Language {
  const language = LANGUAGES[/\.\w+$/u.exec(path)?.[0] ?? ""]
  if (language !== undefined) return language
  throw new ToolwrightError(
    "UNSUPPORTED_LANGUAGE",
    `JSON artifacts become Python, TypeScript or JavaScript; ${path} is none of these.`,
    {
      hint: `Use a path that ends with ${Object.keys(LANGUAGES).join(", ")}.`,
    },
  )
}

/** A source file as data. */
export interface SourceFile {
  docstring?: string
  elements: Element[]
}

/**
 * Renders a source file by the template of its language: its documentation, its imports, then everything else in the
 * order in which it was added.
 * The same file always gives the same bytes, ending with one line end.
 *
 * @throws TemplateError when a template of the configuration is wrong
 */
export async function renderFile(
  path: string,
  file: SourceFile,
  language: Language,
  templates: FileTemplates = {},
): Promise<string> {
  const { renderTemplate } = await import("@toolwright/toolformat")
  const python = language === "python"
  const elements = python ? withImplied(file.elements) : file.elements
  const print = (element: Element) => (python ? printPython(element) : printTypeScript(element, language))
  const isFuture = (element: Element) => element.name === "__future__"
  const imports = elements.filter((element) => element.kind === "import")
  const docstring =
    file.docstring === undefined
      ? ""
      : python
        ? pythonDocstring(file.docstring)
        : documentation(file.docstring).trimEnd()
  const data: TemplateData = {
    path,
    language,
    docstring,
    imports: [...imports.filter(isFuture), ...imports.filter((element) => !isFuture(element))].map(print),
    elements: elements
      .filter((element) => element.kind !== "import")
      .map((element) => ({ kind: element.kind, name: element.name, text: print(element) })),
  }
  const text = renderTemplate(templates[language] ?? DEFAULT_TEMPLATES[language], { ...data }).replace(/\s+$/u, "")
  return text === "" ? "" : `${text}\n`
}

function withImplied(elements: readonly Element[]): Element[] {
  const result = [...elements]
  for (const implied of impliedPythonImports(elements)) {
    const index = result.findIndex(
      (element) => element.kind === "import" && element.name === implied.name && element.alias === undefined,
    )
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
