export type { DatabaseTarget, DatabaseToolsConfig } from "./config.ts"
export { databaseKit } from "./kit.ts"
