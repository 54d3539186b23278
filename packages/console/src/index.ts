export { consoleFiles, type ConsoleFiles, type PageFile } from "./files.ts"
export { runAsPage } from "./exchange.ts"
export { runInPage } from "./in-page.ts"
