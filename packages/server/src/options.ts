import type {
  CallGate,
  executeCall,
  Middleware,
  PermissionPolicy,
  ResultCache,
  ToolDefinition,
  Toolset,
} from "@toolwright/toolbox"
import type { PromptRegistry } from "@toolwright/prompts"
import type {
  AgentSource,
  ConnectionSource,
  EvaluationSource,
  OneTimeCode,
  PageSource,
  PlanSource,
  RunSource,
  RunStarter,
  TaskSource,
} from "./http/sources.ts"

/** A bearer token and what it opens. */
export interface AccessToken {
  token: string
  /** Only tools with one of these tags (a tool's category counts as a tag); all unless given. */
  tags?: readonly string[]
}

/** What a server serves, and whom. */
export interface ServerOptions {
  tools: Toolset
  prompts?: PromptRegistry
  /** Tokens that are accepted; none means that no token is asked for. */
  tokens?: readonly AccessToken[]
  /** Host names that requests may name, beside those of the loopback interface. */
  allowedHosts?: readonly string[]
  /** Origins of pages that may call, beside this server's own. `*` allows all, and is refused together with tokens. */
  allowedOrigins?: readonly string[]
  /** Largest request body in bytes; 4 MiB unless given. */
  maxBodyBytes?: number
  /** Longest time that a request body may take to come, in milliseconds; 30 seconds unless given. */
  bodyTimeoutMs?: number
  /** Largest result in bytes of JSON; 16 MiB unless given. */
  maxResultBytes?: number
  /**
   * What callers may have the server do and keep at once; shared with other surfaces, such as MCP, where they are given
   * the same one. One with `maxConcurrentCalls` unless given.
   */
  gate?: CallGate
  /** Calls that run at once; 64 unless given. Further ones are refused with 429. */
  maxConcurrentCalls?: number
  /** Answers of the model that are under way at once at the gateway; 1,024 unless given. */
  maxConcurrentAnswers?: number
  /** Time limit in milliseconds of tools that set none. */
  toolTimeoutMs?: number
  cache?: ResultCache
  middleware?: readonly Middleware[]
  /** Carries out a call; `executeCall` unless given, which leaves no record. */
  executeCall?: typeof executeCall
  /** Which calls may run; all unless given. */
  permissions?: PermissionPolicy
  /** Address under which clients reach this server, for the OpenAPI document; the request's own unless given. */
  publicUrl?: string
  /** The runs that are shown; none unless given. */
  runs?: RunSource
  /** Starts runs for whoever asks over HTTP; nobody does unless given. */
  starter?: RunStarter
  /** The tasks that are shown, and queued by holders of a token; none unless given. */
  tasks?: TaskSource
  /** The agents that tasks can be given to; none unless given. */
  agents?: AgentSource
  /** What is shown of connections; nothing unless given. */
  connections?: ConnectionSource
  /** What a million tokens cost, by name of the model: figures tell what was spent. */
  prices?: Readonly<Record<string, { input: number; output: number }>>
  /** The plans that are shown, and started by holders of a token; none unless given. */
  plans?: PlanSource
  /** The evaluations that are shown; none unless given. */
  evaluations?: EvaluationSource
  /** The files of the page at `/`; a list of what is served unless given. */
  page?: PageSource
  /** A code that opens the page once. */
  oneTime?: OneTimeCode
  /** Gets a record of each request. */
  log?: (entry: LogEntry) => void
}

/** One request, as it is logged. */
export interface LogEntry {
  /** ISO 8601. */
  at: string
  method: string
  path: string
  status: number
  durationMs: number
  tool?: string
  /** Code of the tool's error, when the call failed. */
  error?: string
}

/** Title, description and version of the service. */
export const SERVICE = {
  title: "Tools API",
  description: "Structured tool and prompt execution service",
  version: "1.0.0",
} as const

/** A tool's tags on the wire: its own, or its category where it has none. */
export function tagsOf(tool: ToolDefinition): string[] {
  return tool.tags !== undefined && tool.tags.length > 0 ? [...tool.tags] : [tool.category]
}
