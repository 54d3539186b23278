/** Families that are tried in front of the gateway, one for each kind of syntax. */
export const FAMILIES = [
  "hermes",
  "qwen3-xml",
  "llama3",
  "pythonic",
  "mistral",
  "deepseek-v3",
  "kimi-k2",
  "glm45",
  "minimax-m2",
  "harmony",
  "gemma4",
  "granite4",
]
