export * from "./app.ts"
export * from "./conversations/routes.ts"
export { approvalRoutes, approvalsWithoutToken, type ApprovalView } from "./routes/approvals.ts"
export type { TaskView } from "@toolwright/store"
export type { GatewayAgent } from "./gateway/modes.ts"
export * from "./gateway/routes.ts"
export type * from "./gateway/wire.ts"
export * from "./http/forward.ts"
export * from "@toolwright/host/tracing"
export * from "./openapi/document.ts"
export { SERVICE, type AccessToken, type ServerOptions, type LogEntry } from "./options.ts"
export type * from "./connections/shapes.ts"
export type * from "./figures/shapes.ts"
export type {
  AgentSource,
  ConnectionSource,
  OneTimeCode,
  PageSource,
  RunSource,
  RunStarter,
  TaskSource,
} from "./http/sources.ts"
export { exportedRun, importRun, type ExportedRun } from "./runs/exchange.ts"
export type * from "./runs/shapes.ts"
export * from "./serve.ts"
export { fromUiMessages } from "./ui-messages/messages.ts"
export { uiMessageChunks, uiMessageResponse, type UiMessageChunk } from "./ui-messages/stream.ts"
