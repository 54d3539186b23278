import { redactDeep, type Redactor } from "@toolwright/host/text"
import type { RunWriter } from "@toolwright/store"
import {
  jsonParts,
  jsonText,
  type ArgumentOrigin,
  type JsonSchema,
  type Permission,
  type PermissionRule,
  type RunEvent,
  type ToolEvent,
  type WorkNote,
} from "@toolwright/toolbox"
import { ABOUT, type ChatMessage } from "@toolwright/toolformat/messages"
import { saidOnce } from "./said-once.ts"

/** What a run is after a round: from it, and from what stands in the log since, the run can go on. */
export interface Snapshot {
  messages: readonly ChatMessage[]
  counters: RunCounters
  notes: readonly WorkNote[]
}

/** What a run has counted so far. Times are milliseconds. */
export interface RunCounters {
  /** Calls that were given a name. */
  named: number
  nudges: number
  artifacts: number
  inputTokens: number
  outputTokens: number
  modelMs: number
  toolMs: number
  totalMs: number
}

/** A list that grows from one time to the next: how many of the last list stay, and hashes of those that follow. */
export interface ListChange {
  keep: number
  add: string[]
}

/** What a run was given, beside its task. */
export interface GivenToRun {
  systemPrompt?: string
  history?: readonly ChatMessage[]
  files?: readonly string[]
  /** The schema of the answer. */
  output?: JsonSchema
  permissions?: KeptPermissions
  flags?: KeptFlags
}

/**
 * The flags of settings that a person gave the command that began a run, by their names: no setting of a file or of a
 * variable is among them.
 */
export type KeptFlags = Readonly<Record<string, string | boolean | readonly string[]>>

/** What a run was permitted, which holds for whoever goes on with it. */
export interface KeptPermissions {
  careful?: true
  /** In their order; tools by names with wildcards. */
  rules?: readonly Pick<PermissionRule, "tool" | "permission">[]
  /** In logs of before, in place of `rules`: what it was denied. */
  deny?: readonly string[]
  denyPaths?: readonly string[]
  otherwise?: Permission
  /** It waits for an answer where nobody can be asked. */
  waits?: true
}

/** A message as it stands among the bodies: `note` is said of what the executor told the model. */
export type StoredMessage = Exclude<ChatMessage, never> & { note?: true }

/** Writes events as bodies of the log: without secrets, and with each message once. */
export class Encoder {
  readonly #writer: Pick<RunWriter, "keep">
  readonly #redact: Redactor
  readonly #given: GivenToRun
  /** Of messages; a call by itself has none. */
  #hashes: WeakMap<object, string> | undefined
  #prompt: readonly unknown[] = []
  #conversation: readonly unknown[] = []
  #tools: { list: readonly unknown[]; hash: string } | undefined

  constructor(writer: Pick<RunWriter, "keep">, redact: Redactor, given: GivenToRun) {
    this.#writer = writer
    this.#redact = redact
    this.#given = given
  }

  /** Goes on in a log that holds these messages already, as they stand in the live conversation. */
  resumeFrom(messages: readonly ChatMessage[], hashes: readonly string[]): void {
    this.#hashes ??= new WeakMap()
    for (const [index, message] of messages.entries()) this.#hashes.set(message, hashes[index]!)
    this.#conversation = messages.slice()
  }

  encode(event: RunEvent, snapshot: () => Snapshot): string {
    switch (event.type) {
      case "run-start":
        return this.text({ ...without(event), given: this.#givenToRun() })
      case "request": {
        const { messages, tools, grammar, ...rest } = event
        const prompt = this.#change(this.#prompt, messages)
        this.#prompt = messages.slice()
        const body = { ...without(rest), prompt, messageCount: messages.length, toolCount: tools.length }
        return this.text({
          ...body,
          tools: this.#toolList(tools),
          ...(grammar === undefined ? {} : { grammar: this.#writer.keep(this.#redact(grammar)) }),
        })
      }
      case "tool-progress": {
        // A secret may begin in one piece and end in the next; the result holds them together.
        const { message: _message, ...rest } = event
        return this.text(without(rest))
      }
      case "round-end": {
        const { messages, counters, notes } = snapshot()
        const conversation = this.#change(this.#conversation, messages)
        this.#conversation = messages.slice()
        return this.text({ ...without(event), conversation, counters, ...(notes.length === 0 ? {} : { notes }) })
      }
      case "tool-end":
        return this.ofCall(event)
      case "reply-tokens": {
        // A secret stands in it in pieces.
        const { texts, tokens } = event.trace
        const written = tokens.map((place) => texts[place]).join("")
        if (this.holdsSecret(written)) return this.text({ round: event.round, withheld: true })
        return this.text({ ...without(event), origins: event.origins.map((origin) => this.#origin(origin)) })
      }
      case "reply": {
        const json = jsonText(without(event))
        const safe = this.#safe(json)
        if (safe === json) return safe
        // What these calls were to do cannot be told from the log.
        const redacted = event.calls.filter(({ arguments: args }) => this.holdsSecret(args)).map(({ id }) => id)
        // Of a text that was changed the stretches end elsewhere.
        const { spans: _, ...rest } = event
        return this.text({ ...without(rest), ...(redacted.length === 0 ? {} : { redacted }) })
      }
      default:
        return this.text(without(event))
    }
  }

  /** An event of a call. */
  ofCall(event: ToolEvent): string {
    const body = without(event)
    return event.type === "tool-end" ? this.#ofEnd(body) : this.text(body)
  }

  /** Where somebody's data cannot be looked into, they are written as far as they can be. */
  #ofEnd(body: object): string {
    try {
      const { json, frame, texts } = jsonParts(saidOnce(body))!
      // Texts that were looked through before are not looked through again.
      const isClean = this.#redact.mayFindIn?.(frame) === false && texts.every((text) => this.#redact(text) === text)
      return isClean ? json : this.#safe(json)
    } catch {
      return this.text(body)
    }
  }

  /**
   * As JSON without secrets. These are taken out of the texts and not of the JSON, in which they are spelt otherwise.
   */
  text(value: unknown): string {
    return this.#safe(jsonText(value))
  }

  #safe(json: string): string {
    if (this.#redact.mayFindIn?.(json) === false) return json
    // Without an escape every text stands in the JSON as it is, so where nothing is found there, there is nothing.
    if (!json.includes("\\") && this.#redact(json) === json) return json
    const parsed = JSON.parse(json) as unknown
    const safe = redactDeep(parsed, this.#redact)
    return safe === parsed ? json : JSON.stringify(safe)
  }

  /** Keeps a text that is of use only as it is; undefined where that cannot be, since a secret stands in it. */
  keepWhole(text: string): string | undefined {
    return this.#redact(text) === text ? this.#writer.keep(JSON.stringify(text)) : undefined
  }

  /** Whether something of it is taken out before it is written. */
  holdsSecret(value: unknown): boolean {
    const json = jsonText(value)
    return this.#safe(json) !== json
  }

  /** Of a message that holds a secret no words are cut out: a part of one is not known for what it is. */
  #origin(origin: ArgumentOrigin): ArgumentOrigin {
    const places = origin.places.map((place) => {
      const message = this.#prompt[place.message]
      return message === undefined || this.holdsSecret(message) ? { ...place, before: "", text: "", after: "" } : place
    })
    return { ...origin, places }
  }

  #givenToRun(): object {
    const { systemPrompt, history = [], files, output, permissions, flags } = this.#given
    return {
      ...(systemPrompt === undefined ? {} : { systemPrompt: this.#writer.keep(this.#redact(systemPrompt)) }),
      ...(history.length === 0 ? {} : { history: history.map((message) => this.#message(message)) }),
      ...(files === undefined ? {} : { files }),
      ...(output === undefined ? {} : { output }),
      ...(permissions === undefined ? {} : { permissions }),
      ...(flags === undefined ? {} : { flags }),
    }
  }

  #change(before: readonly unknown[], now: readonly unknown[]): ListChange {
    let keep = 0
    while (keep < before.length && keep < now.length && before[keep] === now[keep]) keep++
    return { keep, add: now.slice(keep).map((message) => this.#message(message as ChatMessage)) }
  }

  #message(message: ChatMessage): string {
    const known = (this.#hashes ??= new WeakMap())
    let hash = known.get(message)
    if (hash === undefined) {
      const note = "role" in message && message.role === "user" && message[ABOUT]?.kind === "note"
      hash = this.#writer.keep(this.text(note ? { ...message, note: true } : message))
      known.set(message, hash)
    }
    return hash
  }

  #toolList(list: readonly unknown[]): string {
    const known = this.#tools
    if (known === undefined || known.list.length !== list.length || known.list.some((tool, at) => tool !== list[at]))
      this.#tools = { list: list.slice(), hash: this.#writer.keep(this.text(list)) }
    return this.#tools!.hash
  }
}

/** The type stands in a column of its own. */
function without<Value extends { type?: string }>(event: Value): Omit<Value, "type"> {
  const { type: _type, ...rest } = event
  return rest
}
