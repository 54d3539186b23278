export { webKit, type WebToolsConfig } from "./kit.ts"
