export { pocketGrounding } from "./grounding.ts"
export { openPocket, pocketBackend, type PocketOptions } from "./open.ts"
export { renderPocketPrompt, type PocketPromptOptions } from "./prompt.ts"
export { absentPocketTools, POCKET_TOOLS, pocketTools } from "./tools.ts"
