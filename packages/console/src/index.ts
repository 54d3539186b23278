export { consoleFiles, type ConsoleFiles, type PageFile } from "./files.ts"
export { runAsPage, runInPage } from "./exchange.ts"
