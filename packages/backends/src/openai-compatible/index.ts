export { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"
export { samplingFields, type Dialect } from "./dialect.ts"
