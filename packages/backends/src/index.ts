export type * from "./model/backend.ts"
export * from "./scripted/index.ts"
