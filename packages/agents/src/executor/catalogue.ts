import { briefly, memory, type ToolCall, type ToolDefinition, type ToolResult, type Toolset } from "@toolwright/toolbox"
import {
  CALL_TOOL,
  meantBy,
  MOST_SHOWN,
  namesIn,
  searchIn,
  searchTool,
  shownIn,
  systemPrompt,
  throughTool,
  TOOL_SEARCH,
} from "@toolwright/dialogue"
import { formatterById, toOpenAITools } from "@toolwright/toolformat"

/** What stands at the front of a prompt at most, in tools and in tokens, before the others are only named. */
export interface CatalogueLimits {
  /** All of them stand there, in short, and there is no search. */
  all?: boolean
  /** Which tools come first: the lower the earlier; a tool without a rank is only named where not all have room. */
  rank?(tool: ToolDefinition): number | undefined
  /** Tools; {@link MOST_DECLARED} unless given. */
  tools?: number
  /** Tokens of their declarations and of the guidance, as estimated; {@link MOST_DECLARED_TOKENS} unless given. */
  tokens?: number
}

export const MOST_DECLARED = 12
export const MOST_DECLARED_TOKENS = 1500

/**
 * What a model is told of its tools. Where not all have room, some are declared at the front of the prompt, which stays
 * as it is for the whole run, since a server reads everything anew behind the first changed letter; the others are
 * named, and `tool_search` shows what is asked for where the conversation has come to. What was shown widens the
 * grammar. Where the server itself writes the declarations, from a list that may not change, the shown tools are called
 * through `call_tool`. A tool that is called by its name without having been shown is simply called.
 */
export class Catalogue {
  /** Everything that may be called. */
  readonly tools: Toolset
  /** Whether some tools are only named. */
  readonly searched: boolean
  readonly #base: Toolset
  readonly #search: readonly ToolDefinition[]
  readonly #through: ToolDefinition
  readonly #short: boolean
  readonly #declared: readonly ToolDefinition[]
  readonly #declaredNative: readonly ToolDefinition[]
  #callable: readonly ToolDefinition[]
  #seen: number
  #known: ReadonlySet<string>

  constructor(base: Toolset, limits: CatalogueLimits | undefined) {
    this.#base = base
    const all = base.list()
    this.#known = new Set(all.map(({ name }) => name))
    const free = limits === undefined || limits.all === true || this.#has(OWN_NAMES)
    this.#short = limits?.all === true
    const [native, text] =
      free || haveRoom(all, limits) ? [all, all] : [frontOf(all, limits, 0), frontOf(all, limits, 1)]
    this.searched = native !== all
    this.#search = [native, text].map((front) =>
      searchTool(namesIn(all.filter((tool) => !front.includes(tool))), (query) => this.#find(query)),
    )
    this.#through = throughTool()
    const [searchNative, search] = this.#search as [ToolDefinition, ToolDefinition]
    this.#declared = this.searched ? [...text.map(briefly), search] : this.#all()
    this.#declaredNative = this.searched ? [...native.map(briefly), searchNative, this.#through] : this.#declared
    this.#callable = this.searched ? [...native.map(briefly), searchNative] : this.#declared
    this.#seen = base.version
    this.tools = this.searched ? this.#everything() : base
  }

  /** The tools at the front: the same list, of the same tools, for the whole run. */
  declared(native: boolean): readonly ToolDefinition[] {
    if (!this.searched) return this.callable
    return native ? this.#declaredNative : this.#declared
  }

  /**
   * The tools that the model has been told of by now: what a grammar lets be called. The same list until there are
   * more.
   */
  get callable(): readonly ToolDefinition[] {
    if (!this.searched && this.#seen !== this.#base.version) {
      this.#seen = this.#base.version
      this.#callable = this.#all()
    }
    return this.#callable
  }

  /** What the model may name in a call by now, as it is told of them: what is counted and shown. */
  told(native: boolean): readonly ToolDefinition[] {
    return native && this.searched ? [...this.callable, this.#through] : this.callable
  }

  /** Tools that a part of the conversation tells of. */
  show(names: readonly string[]): void {
    if (!this.searched) return
    const told = new Set(this.#callable.map(({ name }) => name))
    const shown = names.flatMap((name) => this.#base.get(name) ?? [])
    const added = shown.filter(({ name }) => !told.has(name))
    // Of a tool that was declared briefly, the search has told the rest.
    const widened = shown.filter((tool) => briefly(tool) !== tool && this.#callable.includes(briefly(tool)))
    if (added.length + widened.length === 0) return
    this.#callable = [...this.#callable.map((tool) => widened.find(({ name }) => name === tool.name) ?? tool), ...added]
  }

  /** The call that is meant by one through `call_tool`; any other is itself. */
  meant(call: ToolCall): ToolCall {
    return this.searched ? meantBy(call) : call
  }

  /** What came and went below since the last time; new ones are shown, and so told where the conversation stands. */
  changes(): { added: ToolDefinition[]; removed: string[] } {
    const all = this.#base.list()
    const now = new Set(all.map(({ name }) => name))
    const added = all.filter(({ name }) => !this.#known.has(name))
    const removed = [...this.#known].filter((name) => !now.has(name))
    this.#known = now
    if (removed.length > 0) this.#callable = this.#callable.filter(({ name }) => !removed.includes(name))
    const told = added.slice(0, MOST_SHOWN)
    this.show(told.map(({ name }) => name))
    return { added: told, removed }
  }

  #has(names: readonly string[]): boolean {
    return names.some((name) => this.#base.get(name) !== undefined)
  }

  #all(): readonly ToolDefinition[] {
    return this.#short ? this.#base.list().map(briefly) : this.#base.list()
  }

  #everything(): Toolset {
    const base = this.#base
    const own = (name: string): ToolDefinition | undefined =>
      [this.#search[0]!, this.#through].find((tool) => tool.name === name)
    return {
      get version() {
        return base.version
      },
      list: () => [...base.list(), this.#search[0]!, this.#through],
      get: (name) => own(name) ?? base.get(name),
      withdrawn: (name) => base.withdrawn(name),
      keptBack: (name) => base.keptBack?.(name),
      away: () => base.away?.() ?? [],
    }
  }

  #find(query: string): ToolResult {
    const result = searchIn(this.#base.list(), query)
    this.show(shownIn(TOOL_SEARCH, result.data))
    return result
  }
}

/** Tokens that a tool's declaration takes, roughly. */
export function declaredTokens(tools: readonly ToolDefinition[]): number {
  return Math.ceil(tools.reduce((sum, tool) => sum + JSON.stringify(toOpenAITools([tool])).length, 0) / 4)
}

const OWN_NAMES = [TOOL_SEARCH, CALL_TOOL]

/** How tools may be told of: natively, or in the form of text that takes most room. */
type Told = 0 | 1

/**
 * Tokens of a tool's declaration and its line of guidance, natively and in text. Which form the text will have is not
 * known before the run is under way, so the widest counts.
 */
const tokensToTell = memory.derived((tool: ToolDefinition): readonly [number, number] => {
  const definition = JSON.stringify(toOpenAITools([tool])).length
  const guidance = lengthIn("native", tool)
  const written = lengthIn("text", tool) - guidance
  const words = guidance / CHARS_PER_TOKEN.words
  return [definition / CHARS_PER_TOKEN.json + words, written / CHARS_PER_TOKEN.indentedJson + words]
})

/** As the vocabularies that `bench/prompt-sizes.ts` reads have it; a schema's indentation makes few tokens. */
const CHARS_PER_TOKEN = { json: 5, indentedJson: 3.8, words: 3.8 } as const

/** What stands around the tools, once. */
const HEADINGS = 40

/** Characters that a tool adds to the prompt beside another of its category. */
function lengthIn(delivery: "native" | "text", tool: ToolDefinition): number {
  const written = (tools: readonly ToolDefinition[]): number =>
    systemPrompt({ tools, plan: { delivery, formatter: formatterById("llama3-json") } }).length
  const neighbour = { ...tool, usageHint: "Use it." }
  return written([neighbour, tool]) - written([neighbour])
}

function tokensOf(tools: readonly ToolDefinition[], told: Told): number {
  return HEADINGS + tools.reduce((sum, tool) => sum + tokensToTell(tool)[told], 0)
}

function haveRoom(all: readonly ToolDefinition[], limits: CatalogueLimits): boolean {
  const { tools = MOST_DECLARED, tokens = MOST_DECLARED_TOKENS } = limits
  return all.length <= tools && ([0, 1] as const).every((told) => tokensOf(all, told) <= tokens)
}

/** Those with a rank that fit beside the search and the call through it, in their own order. */
function frontOf(all: readonly ToolDefinition[], limits: CatalogueLimits, told: Told): readonly ToolDefinition[] {
  const { rank = () => undefined, tools = MOST_DECLARED, tokens = MOST_DECLARED_TOKENS } = limits
  const front = new Set<ToolDefinition>()
  const own = [searchTool(namesIn(all), () => {}), ...(told === 0 ? [throughTool()] : [])]
  let left = tokens - tokensOf(own, told)
  const ranked = all.flatMap((tool) => {
    const place = rank(tool)
    return place === undefined ? [] : [{ tool, place }]
  })
  for (const { tool } of ranked.toSorted((a, b) => a.place - b.place)) {
    const size = tokensToTell(briefly(tool))[told]
    if (front.size + OWN_NAMES.length >= tools || size > left) continue
    left -= size
    front.add(tool)
  }
  return all.filter((tool) => front.has(tool))
}
