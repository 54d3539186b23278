export { createOllamaBackend, OLLAMA_URL, type OllamaOptions } from "./backend.ts"
