export * from "./answer/answer.ts"
export * from "./answer/answering.ts"
export * from "./ask.ts"
export * from "./context/compaction.ts"
export * from "./context/manager.ts"
export * from "./conversation.ts"
export { Grammars, type ToolCallingMode, type DeliveryInputs, type DeliveryPlan, type ReplyForm } from "./delivery.ts"
export * from "./feedback.ts"
export * from "./form.ts"
export { schemaText } from "./answer/instructions.ts"
export * from "./generate-with-tools.ts"
export { ANNOTATED, groundingOf, saidIn, textsOf, type GroundingSetting } from "./grounding.ts"
export * from "./prompt.ts"
export {
  unreadCallsOf,
  callsInOrder,
  resultsInOrder,
  unreadResult,
  type ReplyEvent,
  type Reply,
  type UnreadCall,
} from "./reply/reply.ts"
export * from "./search/tool-search.ts"
export * from "./tool-calling-backend.ts"
export { findTools } from "./search/find-tools.ts"
