export * from "@toolwright/runtime"
export type { Command, CommandEntry, Invocation, Output } from "./command.ts"
export { runCommandLine } from "./command-line.ts"
