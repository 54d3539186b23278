export { createResponsesBackend, OPENAI_URL, type ResponsesOptions } from "./backend.ts"
