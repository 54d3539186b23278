import type { ToolCategory, ToolDefinition } from "../model/tool.ts"
import { setsOf } from "../model/about.ts"
import { notOfferedReading } from "./reading.ts"
import { splitActions } from "./split-actions.ts"
import { findTool, listedFrom, type Toolset } from "./toolset.ts"

/** What a view keeps of the tools below it, and what it adds. All given conditions must hold. */
export interface ViewOptions {
  /** Only these names. */
  only?: readonly string[]
  /** Not these names. */
  without?: readonly string[]
  /** Not these, which cannot run here; a call of one is told why. */
  unavailable?: readonly { name: string; reason: string }[]
  /** Tools of one of these sets; a tool that names none is of `general`. */
  sets?: readonly string[]
  categories?: readonly ToolCategory[]
  /** Tools offered in this mode (those that name no mode are offered in all). */
  mode?: string
  /** Only tools that change nothing. Actions are judged one by one when they are split. */
  readOnly?: boolean
  where?(tool: ToolDefinition): boolean
  /** Tools of this view alone; one replaces a tool of the same name. */
  add?: readonly ToolDefinition[]
  /** Present each action of a multi-action tool as a tool of its own (`search_grep`). */
  splitActions?: boolean
}

/** A live view: it follows the tools below it, and computes its list again only when they have changed. */
export function createView(base: Toolset, options: ViewOptions): Toolset {
  const current = listedFrom(base, (tools) => select(tools, options))
  return {
    get version() {
      return base.version
    },
    list: () => [...current()],
    get: (name) =>
      findTool(current(), name) ?? (options.splitActions === true ? whole(name, base, current()) : undefined),
    withdrawn: (name) => base.withdrawn(name) ?? withheld(name, base, current(), options),
    keptBack: (name) => base.get(name) ?? base.keptBack?.(name),
    away: () => [...(base.away?.() ?? []), ...sourcesAway(base, options)],
  }
}

/** A tool that is presented by its actions answers to its own name too, where every one of them is offered. */
function whole(name: string, base: Toolset, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const tool = base.get(name)
  if (tool?.actions === undefined) return undefined
  return splitActions(tool).every((single) => tools.includes(single)) ? tool : undefined
}

/**
 * A tool that exists below and is not part of this view is told as such; one that is presented by its actions is not
 * missing.
 */
function withheld(
  name: string,
  base: Toolset,
  tools: readonly ToolDefinition[],
  { readOnly, unavailable = [] }: ViewOptions,
): string | undefined {
  const absent = unavailable.find((each) => each.name === name || isActionOf(base.get(each.name), name))
  if (absent !== undefined) return `The tool '${name}' is not available here: ${absent.reason}.`
  const tool = base.get(name)
  if (tool === undefined || findTool(tools, name) !== undefined) return undefined
  if (splitActions(tool).some((single) => tools.some((offered) => offered.name === single.name))) return undefined
  return readOnly === true && tool.effects?.readOnly !== true
    ? notOfferedReading(tool)
    : `The tool '${name}' is not offered here.`
}

function isActionOf(tool: ToolDefinition | undefined, name: string): boolean {
  return tool?.actions !== undefined && splitActions(tool).some((single) => single.name === name)
}

/** What cannot run here and is no tool, unless its tools have come since. */
function sourcesAway(base: Toolset, { unavailable = [] }: ViewOptions): string[] {
  const there = new Set(base.list().flatMap(({ name, provenance }) => [name, provenance?.name]))
  return unavailable.flatMap(({ name, reason }) => (there.has(name) ? [] : [`${name} (${reason})`]))
}

/** Names of tools that are no part of a view, whether somebody left them out or they cannot run. */
function leftOut({ without = [], unavailable = [] }: ViewOptions): readonly string[] {
  return [...without, ...unavailable.map(({ name }) => name)]
}

function select(registered: ToolDefinition[], options: ViewOptions): ToolDefinition[] {
  const added = new Map((options.add ?? []).map((tool) => [tool.name, tool]))
  const all = [...registered.filter((tool) => !added.has(tool.name)), ...added.values()]
  const presented = options.splitActions ? all.flatMap((tool) => presentedAs(tool, options)) : all
  return presented.filter((tool) => added.has(tool.name) || keeps(tool, options))
}

/** The single-action tools of a tool; a name list may name the whole tool or one of its actions. */
function presentedAs(tool: ToolDefinition, options: ViewOptions): ToolDefinition[] {
  const { only } = options
  const without = leftOut(options)
  const whole = only === undefined || only.includes(tool.name)
  return splitActions(tool)
    .filter((single) => whole || only.includes(single.name))
    .filter((single) => !without.includes(single.name) && !without.includes(tool.name))
}

function isOfKind(tool: ToolDefinition, { sets, categories }: ViewOptions): boolean {
  return (
    (sets === undefined || setsOf(tool).some((set) => sets.includes(set))) &&
    (categories === undefined || categories.includes(tool.category))
  )
}

function keeps(tool: ToolDefinition, options: ViewOptions): boolean {
  const names = options.splitActions ? undefined : options.only
  return (
    (names === undefined || names.includes(tool.name)) &&
    !leftOut(options).includes(tool.name) &&
    isOfKind(tool, options) &&
    (options.mode === undefined || tool.modes === undefined || tool.modes.includes(options.mode)) &&
    (!options.readOnly || tool.effects?.readOnly === true) &&
    (options.where === undefined || options.where(tool))
  )
}
