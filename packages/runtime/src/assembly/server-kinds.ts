/** The kinds of backends that are servers. */
const SERVER_KINDS = ["openai-compatible", "openai-responses", "anthropic", "ollama", "llama-server"] as const

export type ServerKind = (typeof SERVER_KINDS)[number]

export function isServerKind(kind: unknown): kind is ServerKind {
  return (SERVER_KINDS as readonly unknown[]).includes(kind)
}
