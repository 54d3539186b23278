import { readFile, stat } from "node:fs/promises"
import { messageOf, ToolwrightError, type ErrorCode } from "@toolwright/toolbox"

const LARGEST_BYTES = 1024 * 1024

/** A value as it stands in a YAML file, and in which line each part of it does. */
export interface YamlFile {
  value: unknown
  lineOf(path: string): number | undefined
}

/** What a file is to hold, for what is said of one that does not. */
export interface YamlKind {
  /** The code of what is no YAML, or too large. */
  code: ErrorCode
  /** As in `it is no plan`. */
  what: string
}

/**
 * Reads a YAML file that people wrote.
 *
 * @returns undefined where there is no such file
 * @throws ToolwrightError the kind's code for what is no YAML, or too large
 */
export async function yamlFile(path: string, { code, what }: YamlKind): Promise<YamlFile | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) return undefined
  if (found.size > LARGEST_BYTES) throw new ToolwrightError(code, `${path} is larger than 1 MB, so it is no ${what}.`)
  return parsed(await readFile(path, "utf8"), path, code)
}

async function parsed(text: string, where: string, code: ErrorCode): Promise<YamlFile> {
  const { LineCounter, parseDocument } = await import("yaml")
  const counter = new LineCounter()
  const document = parseDocument(text, { logLevel: "error", lineCounter: counter })
  const [fault] = document.errors
  try {
    if (fault !== undefined) throw fault
    const value = (document.toJS({ maxAliasCount: 100 }) as unknown) ?? {}
    return { value, lineOf: lineFinder(document.contents, (offset) => counter.linePos(offset).line) }
  } catch (cause) {
    throw new ToolwrightError(code, `${where}: ${messageOf(cause).split("\n")[0]!.replace(/:$/, ".")}`, { cause })
  }
}

/** Finds the line of a path, or of the nearest part above it that is there. */
function lineFinder(top: unknown, lineAt: (offset: number) => number): YamlFile["lineOf"] {
  return (path) => {
    let line: number | undefined
    for (const step of stepsIn(path, top as YamlNode | null)) {
      const at = step.node?.range?.[0]
      if (at !== undefined) line = lineAt(at)
    }
    return line
  }
}

/** What is read here of the nodes of a document. */
interface YamlNode {
  range?: readonly number[] | null
  value?: unknown
  items?: readonly unknown[]
}

/**
 * The nodes on a path, as far as they are there: the keys of mappings, which stand where one looks, and items of lists.
 */
function* stepsIn(path: string, top: YamlNode | null): Generator<{ node: YamlNode | null }> {
  let node = top
  let rest = path
  while (rest !== "" && node?.items !== undefined) {
    const index = /^\[(\d+)\]\.?/.exec(rest)
    if (index !== null) {
      node = (node.items[Number(index[1])] ?? null) as YamlNode | null
      yield { node }
      rest = rest.slice(index[0].length)
      continue
    }
    const pair = (node.items as { key?: YamlNode; value?: YamlNode }[])
      .filter(({ key }) => isNext(rest, String(key?.value)))
      .toSorted((a, b) => String(b.key?.value).length - String(a.key?.value).length)[0]
    if (pair === undefined) return
    yield { node: pair.key ?? null }
    rest = rest.slice(String(pair.key?.value).length).replace(/^\./, "")
    node = pair.value ?? null
  }
}

function isNext(path: string, key: string): boolean {
  return path.startsWith(key) && /^(?:$|[.[])/.test(path.slice(key.length))
}
