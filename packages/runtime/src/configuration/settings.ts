import type { NetworkPolicy } from "@toolwright/host/net"
import type { BlogToolsConfig, DatabaseTarget, WebToolsConfig } from "@toolwright/tools"

/** The type of a setting's value in the file; flags and variables are read as text and converted. */
export type SettingType = "string" | "integer" | "number" | "boolean" | "string-list" | "object"

/** One setting: its place in the file, and how else it can be given. */
export interface Setting {
  /** Dotted place in `toolwright.yaml`. */
  readonly key: string
  readonly type: SettingType
  readonly description: string
  /** Environment variables, the first that is set counts. */
  readonly env?: readonly string[]
  /** Command-line flag, without the dashes. */
  readonly flag?: string
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly fallback?: string | number | boolean | readonly string[]
  /** Never shown in full. */
  readonly secret?: boolean
}

/**
 * Every setting there is. The file's JSON Schema, its checks, the flags, the variables, `toolwright config` and the
 * reference
 * in the documentation all come from this list.
 */
export const SETTINGS: readonly Setting[] = [
  {
    key: "model.backend",
    type: "string",
    values: ["openai-compatible", "llama", "scripted", "pocket"],
    description:
      "Where inference happens; chosen by what else is set unless given, and where nothing is set the built-in pocket model",
    env: ["TOOLWRIGHT_BACKEND"],
    flag: "backend",
  },
  {
    key: "model.name",
    type: "string",
    description: "Name of the model, as its server knows it; the tool-call format is chosen by it",
    env: ["TOOLWRIGHT_MODEL"],
    flag: "model",
  },
  {
    key: "model.baseUrl",
    type: "string",
    description: "Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1",
    env: ["TOOLWRIGHT_BASE_URL", "OPENAI_BASE_URL"],
    flag: "base-url",
  },
  {
    key: "model.apiKey",
    type: "string",
    description: "Key of that server",
    secret: true,
    env: ["TOOLWRIGHT_API_KEY", "OPENAI_API_KEY"],
  },
  {
    key: "model.path",
    type: "string",
    description: "GGUF file of a model to run in this process (needs node-llama-cpp)",
    env: ["TOOLWRIGHT_MODEL_PATH"],
    flag: "model-path",
  },
  {
    key: "model.dialect",
    type: "string",
    values: ["auto", "generic", "openai", "llama.cpp", "vllm", "ollama"],
    fallback: "auto",
    description:
      "Which server it is, for what each calls otherwise; auto asks it when tools are written into the prompt",
    flag: "dialect",
  },
  {
    key: "model.screenplay",
    type: "string",
    description: "YAML file of a screenplay to play in place of a model",
    flag: "screenplay",
  },
  {
    key: "model.format",
    type: "string",
    description: "Tool-call format, in place of the one chosen by the model's name",
    env: ["TOOLWRIGHT_FORMAT"],
    flag: "format",
  },
  {
    key: "model.nativeTools",
    type: "boolean",
    description: "Whether the server's own tool use is to be relied on; false writes tools into the prompt",
    env: ["TOOLWRIGHT_NATIVE_TOOLS"],
    flag: "native-tools",
    fallback: true,
  },
  {
    key: "model.toolCalling",
    type: "string",
    values: ["structured", "hybrid", "text"],
    fallback: "hybrid",
    description: "How calls may be read: structured forms only, also generic JSON, or generic JSON alone",
    flag: "tool-calling",
  },
  {
    key: "model.grounding",
    type: "string",
    values: ["auto", "always", "off"],
    fallback: "auto",
    flag: "grounding",
    description:
      "Whether paths and file patterns that a grammar holds must come from the conversation: with small models in this process, with every model, or never",
  },
  {
    key: "model.contextTokens",
    type: "integer",
    minimum: 1024,
    description: "The model's window in tokens; older rounds are summarised before it is full",
    flag: "context-tokens",
  },
  { key: "model.temperature", type: "number", minimum: 0, description: "Sampling temperature", flag: "temperature" },
  { key: "model.maxTokens", type: "integer", minimum: 1, description: "Longest reply in tokens", flag: "max-tokens" },
  { key: "model.seed", type: "integer", description: "Seed of the sampler", flag: "seed" },
  {
    key: "model.timeoutSeconds",
    type: "number",
    minimum: 1,
    fallback: 120,
    description: "Longest silence of the server before a request is given up",
  },
  {
    key: "agent.maxRounds",
    type: "integer",
    minimum: 1,
    fallback: 20,
    description: "Inferences in one run",
    env: ["TOOLWRIGHT_MAX_ROUNDS"],
    flag: "max-rounds",
  },
  {
    key: "agent.toolTimeoutSeconds",
    type: "number",
    minimum: 1,
    fallback: 120,
    description: "Time limit of tools that set none",
    flag: "tool-timeout",
  },
  {
    key: "workspace.roots",
    type: "string-list",
    description: "Folders that tools may read and write; the current one unless given",
    flag: "root",
  },
  { key: "workspace.readOnly", type: "string-list", description: "Folders that tools may read", flag: "read-only" },
  {
    key: "workspace.denyRead",
    type: "string-list",
    description: "Patterns of files that tools may not read, beside the usual secrets",
  },
  {
    key: "workspace.denyWrite",
    type: "string-list",
    description: "Patterns of files that tools may not write, beside the usual ones",
  },
  { key: "builtins.only", type: "string-list", description: "Only these built-in tools", flag: "only-tools" },
  { key: "builtins.without", type: "string-list", description: "Not these built-in tools", flag: "without-tools" },
  {
    key: "builtins.bash.allow",
    type: "string-list",
    description: "Programs that the bash tool may run, in place of its own list",
  },
  {
    key: "builtins.bash.sandbox",
    type: "string",
    values: ["auto", "required", "off"],
    fallback: "auto",
    description: "Whether commands run in a bubblewrap sandbox: where there is one, always, never",
  },
  {
    key: "builtins.network",
    type: "object",
    description: "What tools may reach over the network, see docs/web-tools.md",
  },
  { key: "builtins.web", type: "object", description: "Pull requests, web search, pages, see docs/web-tools.md" },
  { key: "builtins.blog", type: "object", description: "Feeds, links, calendar, publishing, see docs/blog-tools.md" },
  {
    key: "builtins.databases",
    type: "object",
    description: "Databases that may be migrated, by name, see docs/database-tools.md",
  },
  {
    key: "mcp.servers",
    type: "object",
    description:
      "MCP servers by name, in the usual form: url, or command with args and env; also enabled, required, prefix, rename, allow, deny, tags",
  },
  { key: "mcp.file", type: "string", description: "JSON file with a mapping mcpServers", flag: "mcp-config" },
  {
    key: "mcp.connect",
    type: "string-list",
    description:
      "MCP servers that must be there: an address, or a command with its arguments; name= before it names it",
    flag: "mcp-server",
  },
  {
    key: "permissions.allow",
    type: "string-list",
    description:
      "Tools that may run unasked, whatever else says that they need approval; with the pocket model bash, delete_file and move_file need it by themselves",
    flag: "allow-tool",
  },
  {
    key: "permissions.deny",
    type: "string-list",
    description: "Tools that may not run (* and ? stand for characters)",
    flag: "deny-tool",
  },
  {
    key: "permissions.ask",
    type: "string-list",
    description: "Tools that need approval; where nobody can be asked they may not run",
  },
  {
    key: "permissions.denyPaths",
    type: "string-list",
    description:
      "Patterns of names (`*.key`) and places (`private/*`) that no tool reads, lists, searches or changes, however it comes there",
  },
  {
    key: "runs.folder",
    type: "string",
    description: "Where runs are recorded; .toolwright/runs in the workspace unless given",
    env: ["TOOLWRIGHT_RUNS"],
    flag: "runs",
  },
]

/** The configuration, as it is in force. */
export interface Configuration {
  model: {
    backend?: "openai-compatible" | "llama" | "scripted" | "pocket"
    name?: string
    baseUrl?: string
    apiKey?: string
    path?: string
    dialect: "auto" | "generic" | "openai" | "llama.cpp" | "vllm" | "ollama"
    screenplay?: string
    format?: string
    nativeTools: boolean
    toolCalling: "structured" | "hybrid" | "text"
    grounding: "auto" | "always" | "off"
    contextTokens?: number
    temperature?: number
    maxTokens?: number
    seed?: number
    timeoutSeconds: number
  }
  agent: { maxRounds: number; toolTimeoutSeconds: number }
  workspace: { roots?: string[]; readOnly?: string[]; denyRead?: string[]; denyWrite?: string[] }
  builtins: {
    only?: string[]
    without?: string[]
    network?: NetworkPolicy
    web?: WebToolsConfig
    blog?: BlogToolsConfig
    databases?: Readonly<Record<string, DatabaseTarget>>
    bash: { allow?: string[]; sandbox: "auto" | "required" | "off" }
  }
  mcp: { servers?: Record<string, unknown>; file?: string; connect?: string[] }
  permissions: { allow?: string[]; deny?: string[]; ask?: string[]; denyPaths?: string[] }
  runs: { folder?: string }
}
