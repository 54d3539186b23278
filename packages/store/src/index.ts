export * from "./conversations.ts"
export * from "./database.ts"
