export { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"
export { withoutCredentials } from "./address.ts"
export { DIALECTS, samplingFields, type Dialect } from "./dialect.ts"
