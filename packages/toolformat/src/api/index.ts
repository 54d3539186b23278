export * from "./call-assembler.ts"
export * from "./events.ts"
export * from "./openai-chat/decode.ts"
export * from "./openai-chat/encode.ts"
