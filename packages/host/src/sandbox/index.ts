export { findProgram } from "./find-program.ts"
export { type SandboxPolicy, type SandboxReport, probeBubblewrap, runSandboxed, sandboxNotice } from "./sandbox.ts"
