export * from "./delivery.ts"
export * from "./request-body.ts"
export * from "./refusals.ts"
