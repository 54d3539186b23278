import { canonicalJson } from "../cache/canonical.ts"
import type { ToolDefinition } from "../model/tool.ts"

/** What a source tells of one tool, part by part, as text. */
export type Telling = Readonly<Record<ToldPart, string>>

/** The parts of a telling, in words. */
export const TOLD_PARTS = {
  description: "its description",
  parameters: "its arguments",
  outputSchema: "what it answers",
  effects: "what it says of its effects",
  title: "its title",
} as const satisfies Partial<Record<keyof ToolDefinition, string>>

export type ToldPart = keyof typeof TOLD_PARTS

const ALL_PARTS = Object.keys(TOLD_PARTS) as ToldPart[]

/** What was told of a source's tools when they were let in, so that one that changes later is seen. */
export interface ToldBefore {
  /**
   * The parts of each tool that are not as they were when it was let in; tools without any are left out. What was never
   * told before is let in by being told.
   */
  changes(tellings: ReadonlyMap<string, Telling>): ReadonlyMap<string, readonly ToldPart[]>
  /** Lets a tool in as it is told now. */
  letIn(tool: string, telling: Telling): void
}

/** Tools of one source that are remembered, and characters of what is told of them: one may make new names for ever. */
export const MOST_TOLD = 10_000
const MOST_CHARACTERS = 32 * 1024 * 1024

/** Remembers as long as it lives itself. */
export function toldHere(): ToldBefore {
  const before = new Map<string, Telling>()
  let characters = 0
  const isFull = (): boolean => before.size >= MOST_TOLD || characters > MOST_CHARACTERS
  const keep = (tool: string, telling: Telling): void => {
    before.set(tool, telling)
    for (const text of Object.values(telling)) characters += text.length
  }
  return {
    changes(tellings) {
      const changed = new Map<string, readonly ToldPart[]>()
      for (const [tool, telling] of tellings) {
        const first = before.get(tool)
        // What cannot be remembered could change unseen, so it counts as changed.
        const parts = first !== undefined ? differingParts(first, telling) : isFull() ? ALL_PARTS : []
        if (first === undefined && !isFull()) keep(tool, telling)
        if (parts.length > 0) changed.set(tool, parts)
      }
      return changed
    },
    letIn: keep,
  }
}

/** The parts in which two tellings, or two sets of marks of their parts, differ. */
export function differingParts(
  some: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
): ToldPart[] {
  return ALL_PARTS.filter((part) => some[part] !== others[part])
}

/** What a definition tells. */
export function tellingOf(tool: ToolDefinition): Telling {
  return Object.fromEntries(
    ALL_PARTS.map((part) => [part, tool[part] === undefined ? "" : canonicalJson(tool[part])]),
  ) as Record<ToldPart, string>
}

/** How changes are watched for. */
export interface ChangeWatchOptions {
  /** How the source is called in messages. */
  readonly source: string
  readonly told: ToldBefore
  log(line: string): void
  /** Called when a tool was let in as it is, so that it has to be offered without its mark. */
  onLetIn(): void
}

/** Marks the tools of a source that are not what they were when they were let in. */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions
  readonly #marked = new WeakMap<ToolDefinition, { changed: string; tool: ToolDefinition }>()

  constructor(options: ChangeWatchOptions) {
    this.#options = options
  }

  /**
   * The definitions, those that have changed with a mark. The same definition with the same mark is the same object.
   */
  mark(tools: readonly ToolDefinition[]): ToolDefinition[] {
    const { told } = this.#options
    const changes = told.changes(new Map(tools.map((tool) => [tool.name, tellingOf(tool)])))
    return tools.map((tool) => {
      const parts = changes.get(tool.name)
      return parts === undefined ? tool : this.#mark(tool, parts)
    })
  }

  #mark(tool: ToolDefinition, parts: readonly ToldPart[]): ToolDefinition {
    const { source, told, log, onLetIn } = this.#options
    const changed = parts.map((part) => TOLD_PARTS[part]).join(", ")
    const known = this.#marked.get(tool)
    if (known?.changed === changed) return known.tool
    log(`'${tool.name}' of '${source}' is not what it was when it was let in: ${changed} changed`)
    const letIn = (): void => {
      told.letIn(tool.name, tellingOf(tool))
      onLetIn()
    }
    const marked = { ...tool, changed, letIn }
    this.#marked.set(tool, { changed, tool: marked })
    return marked
  }
}
