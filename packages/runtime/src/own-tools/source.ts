import { realpathSync, statSync } from "node:fs"
import { messageOf, ToolwrightError, type ToolDefinition, type ToolSource } from "@toolwright/toolbox"
import { modulesOf } from "./entries.ts"
import { loadModule } from "./modules.ts"
import { watchFiles } from "./watch.ts"

/** How tools of a user become a source. */
export interface OwnToolsOptions {
  /** What stands around each of them. */
  present(tool: ToolDefinition): ToolDefinition
  /** Told of the tools each time they were loaded. */
  loaded(tools: readonly ToolDefinition[]): Promise<void>
  log(line: string): void
}

/**
 * The tools of a file, folder or package. When a file changes they are loaded again; what cannot be loaded then leaves
 * the tools as they were, and is told. Where a link leads is found out once: whoever puts another in its place later
 * changes nothing here.
 */
export function ownToolsSource(path: string, { present, loaded, log }: OwnToolsOptions): ToolSource {
  const provenance = { kind: "local", name: path } as const
  const listeners = new Set<() => void>()
  const place = realOf(path)
  let loads = 0
  let tools: readonly ToolDefinition[] | undefined
  let files: readonly string[] = [place]
  const watched = watchFiles(() => void reload(), log)

  const load = async (): Promise<readonly ToolDefinition[]> => {
    const modules = modulesOf(place)
    if (modules.length === 0) throw emptyFolder(path)
    const mark = `${process.pid}-${++loads}-${Date.now()}`
    const read = await Promise.all(modules.map((file) => loadModule(file, mark)))
    files = [place, ...read.flatMap((module) => module.files)]
    const found = read.flatMap((module) => module.tools)
    await loaded(found)
    return found.map((tool) => present({ ...tool, provenance }))
  }
  const reload = async (): Promise<void> => {
    try {
      checkNames(files)
      tools = await load()
      watched.see(files)
      log(`Loaded again: ${path} (${tools.map(({ name }) => name).join(", ")})`)
      for (const listener of listeners) listener()
    } catch (thrown) {
      log(`${messageOf(thrown)} Its tools stay as they were.`)
    }
  }
  return {
    provenance,
    list: async () => (tools ??= await load()),
    onChange(listener) {
      listeners.add(listener)
      watched.see(files)
      return () => listeners.delete(listener)
    },
    async close() {
      listeners.clear()
      watched.close()
    },
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A file with another name may have been changed by that, which no rule about its place keeps from commands. */
function checkNames(files: readonly string[]): void {
  const linked = files.find((file) => {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.nlink > 1
  })
  if (linked === undefined) return
  throw new ToolwrightError(
    "INVALID_CONFIGURATION",
    `${linked} has further names (hard links), by which a command may have changed it: it is loaded at the next start.`,
  )
}

function emptyFolder(path: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The folder ${path} holds no module of tools.`, {
    hint: "Put one into it: toolwright new tool <name>.",
  })
}
