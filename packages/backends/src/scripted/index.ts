export * from "./backend.ts"
export { loadScreenplay, parseScreenplay } from "./load.ts"
export { SCREENPLAY_SCHEMA } from "./schema.ts"
export type * from "./screenplay.ts"
