import type { InferRequest, Usage } from "@toolwright/backends"
import { failure, type ToolCall, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { meantBy, searchIn, shownIn, TOOL_SEARCH } from "../search/tool-search.ts"
import { exchangeOf, type KeptSearches } from "./kept-searches.ts"
import { eventsOf, sumOf, type ReplyEvents, type ReplySource, type SourceEvent } from "./sources.ts"
import type { ToldTools } from "./told-tools.ts"

/** Searches that one answer may take: a model that still finds nothing looks for what is not there. */
const MOST_SEARCHES = 6

/** Asks the model with its searches so far, and lets it call what they have shown. */
type Ask = (messages: InferRequest["messages"], callable: readonly ToolDefinition[]) => ReplySource

/**
 * An answer of a model that may look for its tools. Its searches are answered here, behind everything that was said,
 * and it goes on; whoever asked is told what it says and which tools it calls, and of each search in a note.
 */
export async function* searching(
  told: ToldTools,
  given: readonly ChatMessage[],
  kept: KeptSearches,
  ask: Ask,
): ReplyEvents {
  const { messages, shown, key } = kept.restore(given, told.deferred)
  const names = new Set(shown)
  const hidden: ChatMessage[] = []
  let said = ""
  let usage: Usage | undefined
  for (let round = 1; ; round++) {
    const callable = [...told.declared, ...told.deferred.filter(({ name }) => names.has(name))]
    const reply = new SearchedReply(told, { mayGoOn: round <= MOST_SEARCHES, goesOn: /\S$/.test(said) })
    const finished = yield* reply.read(ask([...messages, ...hidden], callable))
    usage = sumOf(usage, finished.usage)
    for (const { result } of reply.searches) for (const name of shownIn(TOOL_SEARCH, result.data)) names.add(name)
    if (reply.searches.length > 0) {
      hidden.push(...exchangeOf(reply.said, reply.searches))
      said += reply.said
    }
    if (hidden.length > 0) kept.keep(key, reply.called, { messages: [...hidden], said, shown: [...names] })
    const goesOn = reply.searches.length > 0 && reply.called.length === 0 && finished.finishReason !== "length"
    if (!goesOn || round > MOST_SEARCHES) return { ...finished, ...(usage === undefined ? {} : { usage }) }
  }
}

/** One reply, its searches apart. */
class SearchedReply {
  readonly searches: { call: ToolCall; result: ToolResult }[] = []
  /** Ids of the calls that are told. */
  readonly called: string[] = []
  said = ""
  readonly #told: ToldTools
  readonly #mayGoOn: boolean
  readonly #goesOn: boolean

  /** @param place whether it may search, and whether something was said before it that its text goes on from */
  constructor(told: ToldTools, { mayGoOn, goesOn }: { mayGoOn: boolean; goesOn: boolean }) {
    this.#told = told
    this.#mayGoOn = mayGoOn
    this.#goesOn = goesOn
  }

  async *read(source: ReplySource): ReplyEvents {
    const events = eventsOf(source)
    try {
      for (;;) {
        const step = await events.next()
        if (step.done === true) return step.value
        const event = step.value
        if (event.type === "text-delta") yield { ...event, text: this.#say(event.text) }
        else if (event.type === "call-end") yield this.#called(event)
        else yield event
      }
    } finally {
      await events.return(undefined as never)
    }
  }

  #say(text: string): string {
    const told = this.said === "" && this.#goesOn && text !== "" ? `\n\n${text}` : text
    this.said += told
    return told
  }

  #called(event: Extract<SourceEvent, { type: "call-end" }>): SourceEvent {
    const call = meantBy({ id: event.callId, name: event.name, arguments: event.arguments })
    if (call.name === TOOL_SEARCH) return this.#search(call)
    this.called.push(call.id)
    return { ...event, name: call.name, arguments: call.arguments }
  }

  #search(call: ToolCall): { type: "tools-found"; query: string; tools: readonly string[] } {
    const query = typeof call.arguments.query === "string" ? call.arguments.query : ""
    const result = this.#mayGoOn ? searchIn(this.#told.all, query) : NO_MORE
    this.searches.push({ call, result })
    return { type: "tools-found", query, tools: shownIn(TOOL_SEARCH, result.data) }
  }
}

const NO_MORE = failure({
  code: "NO_TOOL_FOUND",
  message: "That were searches enough for one answer.",
  hint: "Answer with what there is.",
})
