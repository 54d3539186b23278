export type * from "./model/backend.ts"
