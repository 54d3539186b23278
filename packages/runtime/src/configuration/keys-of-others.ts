/** Where something stands here that other programs have at the top of their files. */
interface Place {
  what: string
  key: string
  /** A value that may stand there, as YAML and as a program have it. */
  value: string
}

const SERVERS: Place = {
  what: "MCP servers stand",
  key: "mcp.servers",
  value: '{ notes: { command: "notes-server" } }',
}
const ALLOWED: Place = { what: "Tools that nobody is asked about stand", key: "permissions.allow", value: '["git_*"]' }
const DENIED: Place = { what: "Tools that are refused stand", key: "permissions.deny", value: '["bash"]' }
const MODEL: Place = {
  what: "The model stands",
  key: "model",
  value: '{ name: "qwen3", baseUrl: "http://localhost:8080/v1" }',
}
const PROMPT: Place = {
  what: "What a model is told belongs to an agent, and agents stand",
  key: "agents.define",
  value: '{ writer: { from: "assistant", prompt: "You write notes." } }',
}

const OTHERS: Readonly<Record<string, Place>> = {
  mcpServers: SERVERS,
  mcp_servers: SERVERS,
  context_servers: SERVERS,
  servers: SERVERS,
  allowedTools: ALLOWED,
  allowed_tools: ALLOWED,
  autoApprove: ALLOWED,
  disallowedTools: DENIED,
  disallowed_tools: DENIED,
  provider: MODEL,
  providers: MODEL,
  models: MODEL,
  systemPrompt: PROMPT,
  system_prompt: PROMPT,
  instructions: PROMPT,
}

/** Where a key of other programs' files stands here, and how; nothing of any other key. */
export function placeOfOthers(key: string): string | undefined {
  if (!Object.hasOwn(OTHERS, key)) return undefined
  const { what, key: here, value } = OTHERS[key]!
  const parts = here.split(".")
  const lines = parts.map((part, depth) => `${"  ".repeat(depth + 1)}${part}:`)
  return `${what} under '${here}':\n${lines.join("\n")} ${value}`
}
