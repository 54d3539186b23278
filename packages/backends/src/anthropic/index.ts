export { ANTHROPIC_URL, createAnthropicBackend, type AnthropicOptions } from "./backend.ts"
