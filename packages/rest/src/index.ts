export * from "./client.ts"
export * from "./service-source.ts"
export * from "./services.ts"
