/** Reads recorded tokens. For pages too: it takes nothing else along. */
export * from "./model/token-trace.ts"
