export { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"
export { DIALECTS, samplingFields, type Dialect } from "./dialect.ts"
