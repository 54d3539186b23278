import { ToolwrightError } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import type { Database } from "./database.ts"

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

/**
 * Keeps conversations. Messages are added, never rewritten, so that a long conversation costs no more than a short one.
 */
export interface ConversationStore {
  create(title?: string): Promise<Conversation>
  /** Newest first, by the time of the last message. */
  list(page?: { limit?: number; offset?: number }): Promise<ConversationHead[]>
  get(id: string): Promise<Conversation | undefined>
  /** @throws ToolwrightError `UNKNOWN_CONVERSATION` */
  append(id: string, messages: readonly ChatMessage[]): Promise<void>
  /** @returns whether there was one */
  delete(id: string): Promise<boolean>
}

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS conversation_messages (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, position INTEGER NOT NULL, message TEXT NOT NULL,
    PRIMARY KEY (conversation_id, position))`,
  "CREATE INDEX IF NOT EXISTS conversations_by_time ON conversations (updated_at DESC, id)",
]

/** Settings of a conversation store. */
export interface ConversationStoreOptions {
  now?: () => Date
  /** Hears of what could not be read; it is then treated as absent. */
  log?: (line: string) => void
}

/** Opens the store of a database, and makes its tables where they are missing. */
export async function conversationStore(
  database: Database,
  options: ConversationStoreOptions = {},
): Promise<ConversationStore> {
  const { now = () => new Date(), log = () => {} } = options
  for (const statement of SCHEMA) await database.query(statement)

  async function messagesOf(id: string): Promise<ChatMessage[]> {
    const rows = await database.query<{ position: number; message: string }>(
      "SELECT position, message FROM conversation_messages WHERE conversation_id = ? ORDER BY position",
      [id],
    )
    return rows.flatMap(({ position, message }) => {
      try {
        return [JSON.parse(message) as ChatMessage]
      } catch {
        log(`Message ${position} of conversation ${id} is damaged and was passed over.`)
        return []
      }
    })
  }

  return {
    async create(title = "") {
      const time = now().toISOString()
      const head = { id: crypto.randomUUID(), title, created_at: time, updated_at: time }
      await database.query("INSERT INTO conversations (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)", [
        head.id,
        title,
        time,
        time,
      ])
      return { ...head, messages: [] }
    },
    list: ({ limit = 50, offset = 0 } = {}) =>
      database.query(
        "SELECT id, title, created_at, updated_at FROM conversations ORDER BY updated_at DESC, id LIMIT ? OFFSET ?",
        [limit, offset],
      ),
    async get(id) {
      const [head] = await database.query<ConversationHead>(
        "SELECT id, title, created_at, updated_at FROM conversations WHERE id = ?",
        [id],
      )
      return head === undefined ? undefined : { ...head, messages: await messagesOf(id) }
    },
    append: (id, messages) =>
      database.transaction(async (query) => {
        const time = now().toISOString()
        const [first] = messages.filter(({ role }) => role === "user")
        const title = (first?.content ?? "").replaceAll(/\s+/g, " ").trim().slice(0, 80)
        const found = await query(
          "UPDATE conversations SET updated_at = ?, title = CASE WHEN title = '' THEN ? ELSE title END WHERE id = ? RETURNING id",
          [time, title, id],
        )
        if (found.length === 0) throw new ToolwrightError("UNKNOWN_CONVERSATION", `There is no conversation '${id}'.`)
        const [last] = await query<{ position: number | null }>(
          "SELECT MAX(position) AS position FROM conversation_messages WHERE conversation_id = ?",
          [id],
        )
        const from = (last?.position ?? -1) + 1
        for (const [index, message] of messages.entries()) {
          await query("INSERT INTO conversation_messages (conversation_id, position, message) VALUES (?, ?, ?)", [
            id,
            from + index,
            JSON.stringify(message),
          ])
        }
      }),
    async delete(id) {
      const rows = await database.query("DELETE FROM conversations WHERE id = ? RETURNING id", [id])
      return rows.length > 0
    },
  }
}
