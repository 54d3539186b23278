/** The built-in tools alone, without models and agents: quick to load, for calling tools by hand. */
export { builtinTools } from "./builtins.ts"
export { KIT_PACKAGES } from "./kits.ts"
export { middlewareFor } from "./middleware.ts"
export { registered, type RegisteredTools } from "./registered.ts"
export { recordsFor } from "./records-for.ts"
export { permissionsFor } from "./permissions.ts"
export { changeHistory } from "../workspace/tool-workspace.ts"
export type { ChangeHistory, DoneUndo, HistoryItem, PlannedUndo } from "@toolwright/host/undo"
