export { pocketGrounding } from "./grounding.ts"
export { openPocket, pocketBackend, pocketPrompt, type PocketOptions } from "./open.ts"
export { absentPocketTools, POCKET_TOOLS, pocketTools } from "./tools.ts"
