import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { ChatMessage } from "@toolwright/toolformat"
import type { Database } from "./database/database.ts"

/** A conversation without its messages. Times are ISO 8601. */
export interface ConversationHead {
  id: string
  title: string
  created_at: string
  updated_at: string
}

/** A conversation. */
export interface Conversation extends ConversationHead {
  messages: ChatMessage[]
}

/** Which conversations of an owner a list shows. */
interface Page {
  limit?: number
  offset?: number
  owner?: string
}

/**
 * Keeps conversations, each for its owner: an opaque name, empty where nobody is told apart. To another owner it does
 * not exist. Messages are added, never rewritten, so that a long conversation costs no more than a short one.
 */
export interface ConversationStore {
  create(title?: string, owner?: string): Promise<Conversation>
  /** Newest first, by the time of the last message. */
  list(page?: Page): Promise<ConversationHead[]>
  get(id: string, owner?: string): Promise<Conversation | undefined>
  /** Characters of its messages as they are kept. */
  size(id: string): Promise<number>
  /** @throws ToolwrightError `UNKNOWN_CONVERSATION` */
  append(id: string, messages: readonly ChatMessage[]): Promise<void>
  /** @returns whether there was one */
  delete(id: string, owner?: string): Promise<boolean>
}

/** Settings of a conversation store. */
export interface ConversationStoreOptions {
  now?: () => Date
  /** Hears of what could not be read; it is then treated as absent. */
  log?: (line: string) => void
}

/** The conversations of a database. */
export function conversationStore(database: Database, options: ConversationStoreOptions = {}): ConversationStore {
  return new StoredConversations(database, options)
}

/** Conversations in two tables: their heads, and their messages in order. */
class StoredConversations implements ConversationStore {
  readonly #database: Database
  readonly #now: () => Date
  readonly #log: (line: string) => void

  constructor(database: Database, options: ConversationStoreOptions) {
    this.#database = database
    const { now = () => new Date(), log = () => {} } = options
    this.#now = now
    this.#log = log
  }

  async #messagesOf(id: string): Promise<ChatMessage[]> {
    const rows = await this.#database.query<{ position: number; message: string }>(
      "SELECT position, message FROM conversation_messages WHERE conversation_id = ? ORDER BY position",
      [id],
    )
    const read = rows.flatMap(({ position, message }) => {
      try {
        return [messageIn(message)]
      } catch {
        this.#log(`Message ${position} of conversation ${id} is damaged and was passed over.`)
        return []
      }
    })
    return read.length === rows.length ? read : withoutHalves(read)
  }

  async create(title = "", owner = ""): Promise<Conversation> {
    const time = this.#now().toISOString()
    const head = { id: crypto.randomUUID(), title, created_at: time, updated_at: time }
    await this.#database.query(
      "INSERT INTO conversations (id, title, created_at, updated_at, owner) VALUES (?, ?, ?, ?, ?)",
      [head.id, title, time, time, owner],
    )
    return { ...head, messages: [] }
  }

  list({ limit = 50, offset = 0, owner = "" }: Page = {}): Promise<ConversationHead[]> {
    return this.#database.query(
      "SELECT id, title, created_at, updated_at FROM conversations WHERE owner = ? ORDER BY updated_at DESC, " +
        "id LIMIT ? OFFSET ?",
      [owner, limit, offset],
    )
  }

  async get(id: string, owner = ""): Promise<Conversation | undefined> {
    const [head] = await this.#database.query<ConversationHead>(
      "SELECT id, title, created_at, updated_at FROM conversations WHERE id = ? AND owner = ?",
      [id, owner],
    )
    return head === undefined ? undefined : { ...head, messages: await this.#messagesOf(id) }
  }

  async size(id: string): Promise<number> {
    const [row] = await this.#database.query<{ size: number | string | null }>(
      "SELECT SUM(LENGTH(message)) AS size FROM conversation_messages WHERE conversation_id = ?",
      [id],
    )
    return Number(row?.size ?? 0)
  }

  append(id: string, messages: readonly ChatMessage[]): Promise<void> {
    return this.#database.transaction(async (execute) => {
      const time = this.#now().toISOString()
      const [first] = messages.filter(({ role }) => role === "user")
      const title = (first?.content ?? "").replaceAll(/\s+/g, " ").trim().slice(0, 80)
      const { rows: found } = await execute(
        "UPDATE conversations SET updated_at = ?, title = CASE WHEN title = '' THEN ? ELSE title END WHERE id " +
          "= ? RETURNING id",
        [time, title, id],
      )
      if (found.length === 0) throw new ToolwrightError("UNKNOWN_CONVERSATION", `There is no conversation '${id}'.`)
      const { rows } = await execute<{ position: number | null }>(
        "SELECT MAX(position) AS position FROM conversation_messages WHERE conversation_id = ?",
        [id],
      )
      const from = (rows[0]?.position ?? -1) + 1
      for (const [index, message] of messages.entries()) {
        await execute("INSERT INTO conversation_messages (conversation_id, position, message) VALUES (?, ?, ?)", [
          id,
          from + index,
          JSON.stringify(message),
        ])
      }
    })
  }

  async delete(id: string, owner = ""): Promise<boolean> {
    const rows = await this.#database.query("DELETE FROM conversations WHERE id = ? AND owner = ? RETURNING id", [
      id,
      owner,
    ])
    return rows.length > 0
  }
}

/** What the fields of a message were called in rows that were written before they had one name everywhere. */
const FORMER_FIELDS = { toolCallId: "callId", toolName: "name", args: "arguments" } as const

/** A message or a call under today's names; a field that has one already keeps it. Rows are never rewritten for it. */
function withTodaysNames<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const named = { ...value } as Record<string, unknown>
  for (const [former, name] of Object.entries(FORMER_FIELDS)) {
    if (!(former in named)) continue
    named[name] ??= named[former]
    delete named[former]
  }
  return named as Value
}

/** @throws where the text is no message */
function messageIn(text: string): ChatMessage {
  const message = withTodaysNames(JSON.parse(text) as Partial<ChatMessage> | null)
  if (message !== null && "toolCalls" in message && Array.isArray(message.toolCalls))
    message.toolCalls = message.toolCalls.map(withTodaysNames)
  if (typeof message?.role !== "string" || typeof message.content !== "string") throw new TypeError("no message")
  const calls = "toolCalls" in message ? (message.toolCalls ?? []) : []
  if (!Array.isArray(calls) || !calls.every((call) => typeof call?.id === "string" && typeof call.name === "string"))
    throw new TypeError("no calls")
  return message as ChatMessage
}

/** What is left of damaged messages, without results of calls that are gone and calls whose results are. */
function withoutHalves(messages: readonly ChatMessage[]): ChatMessage[] {
  const called = new Set(
    messages.flatMap((message) => ("toolCalls" in message ? (message.toolCalls ?? []) : [])).map(({ id }) => id),
  )
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])))
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role === "tool") return called.has(message.callId) ? [message] : []
    if (message.role !== "assistant" || message.toolCalls === undefined) return [message]
    const { toolCalls, ...rest } = message
    const kept = toolCalls.filter(({ id }) => answered.has(id))
    return [kept.length === 0 ? rest : { ...rest, toolCalls: kept }]
  })
}
