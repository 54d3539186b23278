/**
 * What an application needs: tools, a model to call them, runs and their records. The rest stands in subpaths:
 * `toolwright/tools`, `/formats`, `/grammars`, `/backends`, `/agents`, `/server`, `/mcp`, `/prompts`, `/store`,
 * `/serve`.
 */
export {
  createToolwright,
  newRunId,
  type OutputSchema,
  type RunOptions,
  type TaskMedia,
  type Toolwright,
  type ToolwrightOptions,
} from "@toolwright/runtime"
export { grammar } from "@toolwright/logits"
export {
  attachSource,
  createResultCache,
  defineTool,
  detectCapabilities,
  ERROR_CODES,
  executeCall,
  failure,
  isOf,
  messageOf,
  serializeTool,
  success,
  ToolRegistry,
  ToolwrightError,
  type CheckedCall,
  type TextInput,
  type ErrorCode,
  type EventOfTool,
  type ExecuteOptions,
  type JsonObject,
  type JsonSchema,
  type Middleware,
  type OutputSummary,
  type PermissionPolicy,
  type PermissionRule,
  type RunEvent,
  type RunEventOf,
  type RunOutcome,
  type RunSummary,
  type ToolContext,
  type ToolDefinition,
  type ToolError,
  type ToolEvent,
  type ToolFailure,
  type ToolResult,
  type Toolset,
  type ToolSuccess,
  type TypedTool,
} from "@toolwright/toolbox"
export {
  createOpenAICompatibleBackend,
  createScriptedBackend,
  infer,
  loadScreenplay,
  openLlamaBackend,
  openPocket,
  parseScreenplay,
  recordBackend,
  serveBackend,
  type Backend,
  type Screenplay,
} from "@toolwright/backends"
export { ToolsApiClient, type ToolsApiClientOptions } from "@toolwright/rest"
export {
  DynamicExecutor,
  FileOwningAgent,
  listRuns,
  profileNamed,
  PROFILES,
  readRun,
  recordRun,
  type AgentProfile,
  type RecordedRun,
  type RunHead,
  type RunRequest,
} from "@toolwright/agents"
export type { ChatMessage } from "@toolwright/toolformat"
export {
  configurationSchema,
  defaultConfiguration,
  loadConfiguration,
  SETTINGS,
  trustStore,
  type Configuration,
  type LoadedConfiguration,
  type PartialConfiguration,
  type Setting,
} from "@toolwright/runtime/configuration"
export type { Command, CommandEntry, Invocation, Output } from "./command.ts"
export { runCommandLine } from "./command-line.ts"
