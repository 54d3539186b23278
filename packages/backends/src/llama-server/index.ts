export { createLlamaServerBackend, LLAMA_SERVER_URL, type LlamaServerOptions } from "./backend.ts"
export type { PromptTemplate } from "./prompt.ts"
