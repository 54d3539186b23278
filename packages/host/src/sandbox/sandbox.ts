import { ToolwrightError } from "@toolwright/toolbox"
import { childEnvironment } from "../spawn/environment.ts"
import { wipeOwnEnvironment } from "../spawn/own-environment.ts"
import { runProcess, type ProcessOutcome, type ProcessRequest } from "../spawn/run-process.ts"
import { programStarts } from "../undo/program-start.ts"
import { bubblewrapArgv, type SandboxPlan } from "./bubblewrap.ts"
import { findProgram, trustedPath } from "./find-program.ts"
import { applyLimits, diskBound, memoryBound } from "./limits.ts"

/** `auto` uses a sandbox where there is one, `required` refuses to run without, `off` never uses one. */
export type SandboxPolicy = "auto" | "required" | "off"

/** What contains a process, per resource, and why not when something does not. Told with every result. */
export interface SandboxReport {
  kind: "bubblewrap" | "none"
  filesystem: "workspace-only" | "unrestricted"
  network: "none" | "shared"
  processes: "own-namespace" | "process-group"
  /** Most processes at once; null when nothing limits them. */
  process_limit: number | null
  /** Memory of the command in megabytes; null when nothing limits it. */
  memory_limit_mb: number | null
  /** Files that may not be read and lie in the repository's history: its objects were hidden for their sake. */
  hidden_history?: readonly string[]
  /** Why there is no sandbox, or what it does not contain. */
  reason?: string
}

interface Probe {
  program?: string
  /** Whether it can bound its temporary file systems. */
  bounded?: boolean
  reason?: string
}

let probing: Promise<Probe> | undefined

/** Whether bubblewrap is installed and really works here; asked once per process by running it. */
export function probeBubblewrap(): Promise<Probe> {
  probing ??= probe()
  return probing
}

async function probe(): Promise<Probe> {
  if (process.platform !== "linux") return { reason: `bubblewrap exists on Linux only, this is ${process.platform}` }
  const program = findProgram("bwrap", trustedPath([process.cwd()]))
  if (program === undefined) return { reason: "bubblewrap (bwrap) is not installed" }
  const first = await tryBubblewrap(program, true)
  return first.reason?.includes("--size") === true ? tryBubblewrap(program, false) : first
}

/** It takes some milliseconds. What a busy machine holds up for long is there all the same, and has to be used. */
const PROBE_MS = 60_000

async function tryBubblewrap(program: string, bounded: boolean): Promise<Probe> {
  const env = childEnvironment()
  const plan = { root: "/tmp", cwd: "/tmp", env, writable: false }
  const argv = bubblewrapArgv(program, ["/bin/sh", "-c", "exit 0"], plan, bounded)
  try {
    const outcome = await runProcess({ argv, cwd: "/", env, timeoutMs: PROBE_MS })
    if (outcome.exitCode === 0) return { program, bounded }
    const exit = outcome.ended === "timeout" ? `not within ${PROBE_MS / 1000} s` : `exit code ${outcome.exitCode}`
    const said = outcome.stderr.text.trim() || exit
    return { reason: `bubblewrap is installed but cannot start here: ${said}` }
  } catch (error) {
    return { reason: `bubblewrap cannot be started: ${String(error)}` }
  }
}

/** The error when a sandbox is required and there is none. */
export function sandboxMissing(reason: string): ToolwrightError {
  return new ToolwrightError(
    "SANDBOX_REQUIRED",
    `Commands must be contained here, and there is no sandbox: ${reason}.`,
    {
      hint: "Use other tools; a person must install bubblewrap or change the configuration.",
    },
  )
}

export interface SandboxedRequest extends ProcessRequest {
  readonly policy: SandboxPolicy
  readonly plan: Omit<SandboxPlan, "env" | "cwd">
}

/**
 * Runs a process in the sandbox that the policy and this machine give.
 *
 * @returns the outcome, and what contained it
 * @throws ToolwrightError `SANDBOX_REQUIRED` when the policy is `required` and there is none
 */
export async function runSandboxed(
  request: SandboxedRequest,
): Promise<{ outcome: ProcessOutcome; sandbox: SandboxReport }> {
  const { policy, plan, ...rest } = request
  await programStarts()
  const probed: Probe = policy === "off" ? { reason: "switched off by configuration" } : await probeBubblewrap()
  if (probed.program !== undefined) return runInside(probed.program, probed.bounded === true, request)
  const reason = probed.reason ?? "unknown"
  if (policy === "required") throw sandboxMissing(reason)
  return runOutside(reason, plan, rest)
}

type Ran = { outcome: ProcessOutcome; sandbox: SandboxReport }

async function runInside(program: string, bounded: boolean, asked: SandboxedRequest): Promise<Ran> {
  const { plan, policy: _, ...request } = asked
  const limits = await applyLimits(plan.limits)
  try {
    const inside = limits.inside(request.argv)
    const env = { ...request.env, ...ownTemporary(request.env) }
    const argv = bubblewrapArgv(program, inside, { ...plan, cwd: request.cwd, env }, bounded)
    const writable = plan.writable === true || (plan.folders?.some((each) => each.writable) ?? false)
    const disk = diskBound(plan.root, writable, plan.limits)
    const memoryMb = memoryBound(plan.limits)
    const outcome = await runProcess({ ...request, env, argv: limits.outside(argv), cwd: plan.root, disk, memoryMb })
    return {
      outcome: { ...outcome, exitCode: exitCodeOf(outcome, inside) },
      sandbox: {
        kind: "bubblewrap",
        filesystem: "workspace-only",
        network: plan.network === true ? "shared" : "none",
        processes: "own-namespace",
        process_limit: limits.processes,
        memory_limit_mb: limits.memoryMb,
        ...(plan.gap === undefined ? {} : { reason: plan.gap }),
      },
    }
  } finally {
    void limits.release()
  }
}

/** The folder for temporary files that every sandbox has; the user's own is not there. */
function ownTemporary(env: Readonly<Record<string, string>>): Record<string, string> {
  const named = ["TMPDIR", "TMP", "TEMP"].filter((name) => env[name] !== undefined)
  return Object.fromEntries(named.map((name) => [name, "/tmp"]))
}

/** What a shell ends with where a program is not there or cannot be started; bubblewrap ends with 1. */
function exitCodeOf({ exitCode, stderr }: ProcessOutcome, [program]: readonly string[]): number | null {
  const said = `bwrap: execvp ${program}: `
  if (exitCode !== 1 || !stderr.text.startsWith(said)) return exitCode
  return stderr.text.startsWith("No such file", said.length) ? 127 : 126
}

async function runOutside(reason: string, plan: SandboxedRequest["plan"], request: ProcessRequest): Promise<Ran> {
  assertThere(request)
  wipeOwnEnvironment()
  const limits = await applyLimits(plan.limits, false)
  try {
    const disk = diskBound(plan.root, true, plan.limits)
    const argv = limits.outside(limits.inside(request.argv))
    const outcome = await runProcess({ ...request, argv, sweep: true, disk, memoryMb: memoryBound(plan.limits) })
    return {
      outcome,
      sandbox: {
        kind: "none",
        filesystem: "unrestricted",
        network: "shared",
        processes: "process-group",
        process_limit: limits.processes,
        memory_limit_mb: limits.memoryMb,
        reason,
      },
    }
  } finally {
    await limits.end()
    void limits.release()
  }
}

/** What the system would say if the program were started by itself, and not by a shell that sets limits. */
function assertThere({ argv: [program = ""], env }: ProcessRequest): void {
  if (program.includes("/") || findProgram(program, env.PATH) !== undefined) return
  throw Object.assign(new Error(`spawn ${program} ENOENT`), {
    code: "ENOENT",
    syscall: `spawn ${program}`,
    path: program,
  })
}

/** A line for the model that says loudly that nothing contained the command; empty when something did. */
export function sandboxNotice(report: SandboxReport): string {
  if (report.kind !== "none") return report.reason === undefined ? "" : `WARNING: ${report.reason}.`
  return `WARNING: ran WITHOUT a sandbox (${report.reason}); the command could read and change anything this user can.`
}
