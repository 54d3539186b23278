export type * from "./model/formatter.ts"
export type * from "./model/message.ts"
export * from "./api/index.ts"
