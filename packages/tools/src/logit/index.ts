export type { LogitToolConfig } from "./logit.ts"
export type { LogitGenerator, LogitRequest } from "./generator.ts"
