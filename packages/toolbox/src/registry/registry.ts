import { executeCall, type ExecuteOptions } from "../execute/execute.ts"
import { ToolwrightError } from "../model/errors.ts"
import type { ToolResult } from "../model/result.ts"
import { describeFault, schemaFault } from "../model/schema-fault.ts"
import type { Optionality, ToolBundle, ToolCategory, ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import { PREDEFINED_BUNDLES } from "./bundles.ts"
import { findTool, type Toolset } from "./toolset.ts"
import { createView, type ViewOptions } from "./view.ts"

/**
 * Hears of changes. Listeners are called in order of subscription, after the change; what they throw is not passed on.
 */
export interface RegistryListener {
  onToolRegistered?(tool: ToolDefinition): void
  onToolUnregistered?(tool: ToolDefinition): void
}

/** What applying a bundle finds. `missing` are tools that the bundle names and that are not registered. */
export interface AppliedBundle {
  tools: ToolDefinition[]
  missing: string[]
}

/**
 * The one place where tools are registered, shared by every agent and surface. Tools may come and go at any time: a
 * call that is running finishes, a later one learns that the tool is no longer available.
 *
 * JavaScript runs one change at a time, so concurrent callers always see a whole state; `list` returns a copy.
 */
export class ToolRegistry implements Toolset {
  readonly #tools = new Map<string, ToolDefinition>()
  readonly #bundles = new Map<string, ToolBundle>(PREDEFINED_BUNDLES.map((bundle) => [bundle.name, bundle]))
  readonly #withdrawn = new Set<string>()
  readonly #listeners = new Set<RegistryListener>()
  #version = 0

  get version(): number {
    return this.#version
  }

  /**
   * @throws ToolwrightError `INVALID_TOOL` without a name or with a malformed schema, `DUPLICATE_TOOL` when the name is
   *   taken (both owners are named)
   */
  register(tool: ToolDefinition): void {
    if (typeof tool.name !== "string" || tool.name === "") {
      throw new ToolwrightError("INVALID_TOOL", "A tool needs a name to be registered.")
    }
    const fault = schemaFault(tool.parameters)
    if (fault !== undefined)
      throw new ToolwrightError(
        "INVALID_TOOL",
        `Tool '${tool.name}': its schema is malformed: ${describeFault(fault)}.`,
      )
    const owner = this.#tools.get(tool.name)
    if (owner !== undefined) {
      throw new ToolwrightError(
        "DUPLICATE_TOOL",
        `Two tools are named '${tool.name}': one of ${origin(owner)}, one of ${origin(tool)}.`,
        {
          hint: "Rename one of them, or give its source a prefix.",
        },
      )
    }
    this.#tools.set(tool.name, tool)
    this.#withdrawn.delete(tool.name)
    this.#version++
    this.#tell((listener) => listener.onToolRegistered?.(tool))
  }

  /** @returns whether such a tool was registered */
  unregister(name: string): boolean {
    const tool = this.#tools.get(name)
    if (tool === undefined) return false
    this.#tools.delete(name)
    this.#withdrawn.add(name)
    this.#version++
    this.#tell((listener) => listener.onToolUnregistered?.(tool))
    return true
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name) ?? findTool(this.#tools.values(), name)
  }

  list(): ToolDefinition[] {
    return [...this.#tools.values()]
  }

  listByCategory(category: ToolCategory): ToolDefinition[] {
    return this.list().filter((tool) => tool.category === category)
  }

  listByOptionality(optionality: Optionality): ToolDefinition[] {
    return this.list().filter((tool) => tool.optionality === optionality)
  }

  /** The tools offered in a mode: those that name it, and those that name none. */
  listForMode(mode: string): ToolDefinition[] {
    return this.list().filter((tool) => tool.modes === undefined || tool.modes.includes(mode))
  }

  /** Replaces a bundle of the same name. @throws ToolwrightError `INVALID_BUNDLE` without a name */
  registerBundle(bundle: ToolBundle): void {
    if (bundle.name === "") throw new ToolwrightError("INVALID_BUNDLE", "A bundle needs a name.")
    this.#bundles.set(bundle.name, bundle)
  }

  bundles(): ToolBundle[] {
    return [...this.#bundles.values()]
  }

  /** @throws ToolwrightError `UNKNOWN_BUNDLE`, with the nearest names */
  applyBundle(name: string): AppliedBundle {
    const bundle = this.#bundles.get(name)
    if (bundle === undefined) {
      const known = [...this.#bundles.keys()]
      throw new ToolwrightError("UNKNOWN_BUNDLE", `There is no bundle '${name}'.`, {
        hint: `Did you mean ${(nearest(name, known)[0] ?? known.join(", ")) || "to register one"}?`,
      })
    }
    const named = bundle.tools ?? []
    return {
      tools: this.list().filter((tool) => named.includes(tool.name) || tool.sets?.includes(name)),
      missing: named.filter((tool) => !this.#tools.has(tool)),
    }
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: RegistryListener): () => void {
    this.#listeners.add(listener)
    return () => this.unsubscribe(listener)
  }

  unsubscribe(listener: RegistryListener): void {
    this.#listeners.delete(listener)
  }

  withdrawn(name: string): string | undefined {
    return this.#withdrawn.has(name) ? `The tool '${name}' is no longer available.` : undefined
  }

  /** A live selection of these tools, for one agent, mode or request. */
  view(options: ViewOptions = {}): Toolset {
    return createView(this, options)
  }

  /** Runs one call through the whole pipeline. Never throws: whatever happens is a result. */
  execute(name: string, args: unknown, options: ExecuteOptions = {}): Promise<ToolResult> {
    return executeCall(this, { name, arguments: args }, options)
  }

  #tell(call: (listener: RegistryListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        call(listener)
      } catch {
        // A listener's fault is its own: the registry has already changed, and the others must hear of it.
      }
    }
  }
}

function origin(tool: ToolDefinition): string {
  return tool.provenance === undefined ? "this process" : `${tool.provenance.kind} source '${tool.provenance.name}'`
}
