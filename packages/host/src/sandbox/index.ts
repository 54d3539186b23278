export { diskBound, lightLimits, memoryBound, type Limits } from "./limits.ts"
export { findProgram, trustedPath } from "./find-program.ts"
export { type SandboxPolicy, type SandboxReport, probeBubblewrap, runSandboxed, sandboxNotice } from "./sandbox.ts"
