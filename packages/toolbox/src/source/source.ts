import { TAG } from "../define.ts"
import { ToolwrightError } from "../model/errors.ts"
import { setsOf } from "../model/about.ts"
import type { ToolDefinition, ToolProvenance } from "../model/tool.ts"
import { wildcard } from "../execute/wildcard.ts"
import type { ToolRegistry } from "../registry/registry.ts"

/**
 * Where tools come from: functions of this process, a REST tools service, an imported MCP server. Whatever the source,
 * its tools are definitions whose handlers make the call; the registry and everything above know no difference.
 */
export interface ToolSource {
  readonly provenance: ToolProvenance
  /** The tools as they are now. @throws ToolwrightError when the source cannot be reached */
  list(): Promise<readonly ToolDefinition[]>
  /** Calls back when the tools have changed; returns a function that ends it. */
  onChange?(listener: () => void): () => void
  close(): Promise<void>
}

/** What of a source is registered, and under which names. */
export interface AttachOptions {
  /** Put before every name, with an underscore. */
  prefix?: string
  /** Other names for single tools, by their own. They get no prefix. */
  rename?: Readonly<Record<string, string>>
  /** Only tools whose own name matches one of these (`*` and `?` stand for characters). */
  allow?: readonly string[]
  /** Not these; goes before `allow`. */
  deny?: readonly string[]
  /** Added to each tool's own tags. */
  tags?: readonly string[]
  /** Sets in which its tools are offered too: agents that choose sets (`coding`, `reading`) take them then. */
  sets?: readonly string[]
  /**
   * Tools, by their own names as in `allow`, that carry a call out once for its key (`Idempotency-Key`, or in MCP
   * `_meta`): an interrupted call of theirs is made again with the same key.
   */
  keyed?: readonly string[]
  /** Tools, likewise, of which a call made twice is as one made once. */
  idempotent?: readonly string[]
  /**
   * Told of a tool whose name is taken already, with the name that it is given instead: the source's, an underscore and
   * its own. Without this function such a tool is an error. A name that `prefix` or `rename` has made is one anyway.
   */
  onTaken?: (tool: ToolDefinition, name: string) => void
}

/** A source whose tools stand in a registry. */
export interface AttachedSource extends AsyncDisposable {
  /** Names under which its tools are registered now. */
  names(): string[]
  /**
   * Takes the source's tools as they are now. @throws ToolwrightError `DUPLICATE_TOOL`, and then nothing has changed
   */
  refresh(): Promise<void>
  /** Unregisters its tools and closes the source. */
  close(): Promise<void>
}

/**
 * Registers a source's tools and keeps them in step with it. A later change that would collide with another tool is
 * passed to `onError` and leaves the registry as it was.
 *
 * @throws ToolwrightError `DUPLICATE_TOOL` naming both owners, or what the source throws; nothing stays registered then
 */
export async function attachSource(
  registry: ToolRegistry,
  source: ToolSource,
  options: AttachOptions = {},
  onError: (error: unknown) => void = () => {},
): Promise<AttachedSource> {
  let registered = new Map<string, ToolDefinition>()
  const { onTaken } = options

  /** A tool under another name where its own is taken and nobody chose it. */
  function withFreeName(
    tool: ToolDefinition,
    own: ToolDefinition,
    takenBy: (name: string) => ToolDefinition | undefined,
  ): ToolDefinition {
    if (onTaken === undefined || tool.name !== own.name || takenBy(tool.name) === undefined) return tool
    const name = `${source.provenance.name.replaceAll(/[^\p{L}\p{N}_-]/gu, "_")}_${tool.name}`
    onTaken(tool, name)
    return { ...tool, name }
  }

  async function refresh(): Promise<void> {
    const listed = (await source.list()).filter((tool) => selected(tool.name, options))
    const wanted = new Map<string, ToolDefinition>()
    const takenBy = (name: string): ToolDefinition | undefined =>
      wanted.get(name) ?? (registered.has(name) ? undefined : exact(registry, name))
    for (const own of listed) {
      const tool = withFreeName(presented(own, source, options), own, takenBy)
      const other = takenBy(tool.name)
      if (other !== undefined) throw collision(tool, other)
      wanted.set(tool.name, tool)
    }
    if (same(wanted, registered)) return
    for (const name of registered.keys()) registry.unregister(name)
    for (const tool of wanted.values()) registry.register(tool)
    registered = wanted
  }

  const wrong = options.tags?.find((tag) => !TAG.test(tag))
  if (wrong !== undefined) {
    throw new ToolwrightError(
      "INVALID_CONFIGURATION",
      `'${wrong.slice(0, 50)}' is no tag for '${source.provenance.name}'.`,
      {
        hint: "Tags hold small letters, digits and '-'.",
      },
    )
  }
  await refresh()
  const end = source.onChange?.(() => void refresh().catch(onError))
  const close = async (): Promise<void> => {
    end?.()
    for (const name of registered.keys()) registry.unregister(name)
    registered = new Map()
    await source.close()
  }
  return { names: () => [...registered.keys()], refresh, close, [Symbol.asyncDispose]: close }
}

/** A source of tools that are at hand. */
export function localSource(name: string, tools: readonly ToolDefinition[]): ToolSource {
  const provenance = { kind: "local", name } as const
  return { provenance, list: async () => tools, close: async () => {} }
}

function selected(name: string, { allow, deny }: AttachOptions): boolean {
  if (deny?.some((pattern) => wildcard(pattern, name))) return false
  return allow === undefined || allow.some((pattern) => wildcard(pattern, name))
}

function presented(tool: ToolDefinition, source: ToolSource, options: AttachOptions): ToolDefinition {
  const { prefix, rename, tags, sets, keyed, idempotent } = options
  const says = (patterns: readonly string[] | undefined): boolean =>
    patterns?.some((pattern) => wildcard(pattern, tool.name)) === true
  const repeats = { ...(says(keyed) ? { keyed: true } : {}), ...(says(idempotent) ? { idempotent: true } : {}) }
  const name = rename?.[tool.name] ?? (prefix === undefined || prefix === "" ? tool.name : `${prefix}_${tool.name}`)
  return {
    ...tool,
    name,
    provenance: tool.provenance ?? source.provenance,
    ...(Object.keys(repeats).length === 0 ? {} : { effects: { ...tool.effects, ...repeats } }),
    ...(sets === undefined ? {} : { sets: [...new Set([...setsOf(tool), ...sets])] }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags: [...new Set([...(tool.tags ?? []), ...tags])] }),
  }
}

/** Whether two sets have the same tools, by what is told of them. */
function same(some: ReadonlyMap<string, ToolDefinition>, others: ReadonlyMap<string, ToolDefinition>): boolean {
  return (
    some.size === others.size &&
    [...some].every(([name, tool]) => {
      const other = others.get(name)
      return other?.handler === tool.handler && other.parameters === tool.parameters && other.changed === tool.changed
    })
  )
}

function exact(registry: ToolRegistry, name: string): ToolDefinition | undefined {
  const found = registry.get(name)
  return found?.name === name ? found : undefined
}

function collision(tool: ToolDefinition, other: ToolDefinition): ToolwrightError {
  const owner = ({ provenance }: ToolDefinition) =>
    provenance === undefined ? "this process" : `the ${provenance.kind} source '${provenance.name}'`
  return new ToolwrightError(
    "DUPLICATE_TOOL",
    `Two tools are named '${tool.name}': one of ${owner(other)}, one of ${owner(tool)}.`,
    {
      hint:
        tool.provenance?.kind === "local"
          ? `Give yours another name, or leave the other out: \`builtins.without: [${tool.name}]\`.`
          : "Rename one with the source's 'rename' setting, or give its source a 'prefix'.",
    },
  )
}
