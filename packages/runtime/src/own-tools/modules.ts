import { statSync } from "node:fs"
import * as nodeModule from "node:module"
import { dirname } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { messageOf, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"

/** A module of tools, as it was loaded. */
export interface LoadedModule {
  readonly tools: readonly ToolDefinition[]
  /** The module and all that it imports by relative paths. */
  readonly files: readonly string[]
}

/** What marks one loading: Node keeps a module for ever by its address, and a changed one needs another. */
const MARK = "toolwright-load"

/**
 * Loads the tools that a module exports. It is loaded anew each time, with the modules of its own that it imports;
 * packages are not.
 *
 * @param load a word for this loading, which no other has
 * @throws ToolwrightError `INVALID_CONFIGURATION` where it cannot be loaded or exports no tool
 */
export async function loadModule(file: string, load: string): Promise<LoadedModule> {
  checkFile(file)
  const files = new Set([file])
  // A Node older than 22.15 has no hooks: of what a module imports nothing is then loaded anew.
  const hooks = (nodeModule as Partial<typeof nodeModule>).registerHooks?.({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const isOwn = specifier.startsWith(".") && new URL(context.parentURL ?? "x:").searchParams.get(MARK) === load
      if (!isOwn || !found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found
      files.add(fileURLToPath(found.url))
      return { ...found, url: marked(found.url, load) }
    },
  })
  try {
    const exported = (await import(/* @vite-ignore */ marked(pathToFileURL(file).href, load))) as Record<
      string,
      unknown
    >
    const tools = toolsIn(exported)
    if (tools.length === 0) throw noTools(file, exported)
    return { tools, files: [...files] }
  } catch (thrown) {
    throw ToolwrightError.isInstance(thrown) ? thrown : unloadable(file, thrown)
  } finally {
    hooks?.deregister()
  }
}

/** Largest module that is loaded; bundles are far smaller. */
const LARGEST_BYTES = 64 * 1024 * 1024

/** Node would wait for a pipe that nobody writes to, and read a device without end. */
function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || (found.isFile() && found.size <= LARGEST_BYTES)) return
  const what = found.isFile() ? `has more than ${LARGEST_BYTES} bytes` : "is no regular file"
  throw new ToolwrightError("INVALID_CONFIGURATION", `The tools in ${file} cannot be loaded: it ${what}.`)
}

function marked(url: string, load: string): string {
  const address = new URL(url)
  address.searchParams.set(MARK, load)
  return address.href
}

/** Tools and lists of tools among a module's exports; one that is exported twice counts once. */
function toolsIn(exported: Readonly<Record<string, unknown>>): ToolDefinition[] {
  const all = Object.values(exported).flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  return [...new Set(all.filter(isTool))]
}

function isTool(value: unknown): value is ToolDefinition {
  const { name, description, parameters, handler } = (value ?? {}) as Partial<ToolDefinition>
  const isText = typeof name === "string" && typeof description === "string"
  return isText && typeof parameters === "object" && typeof handler === "function"
}

function noTools(file: string, exported: Readonly<Record<string, unknown>>): ToolwrightError {
  const names = Object.keys(exported)
  return new ToolwrightError(
    "INVALID_CONFIGURATION",
    `${file} exports no tool${names.length === 0 ? "" : `, only: ${names.join(", ")}`}.`,
    {
      hint:
        'A tool is what defineTool gives: import { defineTool } from "toolwright", export const add = ' +
        "defineTool({ … })",
    },
  )
}

function unloadable(file: string, thrown: unknown): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The tools in ${file} cannot be loaded: ${messageOf(thrown)}`, {
    cause: thrown,
    ...hintFor(thrown, file),
  })
}

function hintFor(thrown: unknown, file: string): { hint?: string } {
  switch ((thrown as NodeJS.ErrnoException | undefined)?.code) {
    case "ERR_MODULE_NOT_FOUND":
      return {
        hint:
          `Install what it imports in ${dirname(file)} (npm install …), and write relative imports with their ` +
          "ending: ./prices.ts.",
      }
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return {
        hint: "Node takes the types away and changes nothing else: write no enum, namespace or parameter property.",
      }
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return { hint: "This Node reads no TypeScript: take Node 22.18 or newer, or write the tools in JavaScript." }
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return { hint: "Packages must hold JavaScript: Node reads TypeScript only outside node_modules." }
    default:
      return {}
  }
}
