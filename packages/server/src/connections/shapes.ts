/** The model that runs are done with. */
export interface ModelConnection {
  /** `openai-compatible`, `llama`, `pocket`, `scripted`; not there where none is configured. */
  kind?: string
  name?: string
  /** Where its server is. */
  baseUrl?: string
  /** Whether it can be examined: it has a server that can be asked. */
  examinable: boolean
  /** What was found out before. */
  examined?: unknown
}

/** A server that tools come from. */
export interface SourceConnection {
  kind: "mcp" | "rest"
  name: string
  state: "connected" | "away"
  /** Why it is away. */
  reason?: string
  /** How many tools stand in the registry. */
  tools: number
}

/** Where runs, tasks and conversations are kept. */
export interface DatabaseConnection {
  kind: "sqlite" | "postgres"
  /** Without a password. */
  place: string
  state: "open" | "not yet" | "away"
  reason?: string
  runs?: number
}

/** What `GET /connections` answers. */
export interface ConnectionList {
  model: ModelConnection
  sources: SourceConnection[]
  database: DatabaseConnection
  /** Tools that are registered and cannot run here, and why. */
  unavailable: { name: string; reason: string }[]
  /** Built-in tools and those of one's own. */
  tools: number
}
