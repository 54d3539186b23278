export * from "./tracing.ts"
