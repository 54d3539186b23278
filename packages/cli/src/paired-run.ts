import type { Reading } from "@toolwright/runtime"
import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { EXIT, type Invocation } from "./command.ts"

/**
 * The exit code of a run with a model that never finds fault with itself: 1 also when it made no call at all, or when a
 * call failed and none of the same tool went well afterwards.
 */
export function pairedExitCode(summary: RunSummary, onlyWords: boolean): number {
  return onlyWords || summary.failedCalls > summary.correctedFailures ? EXIT.failure : EXIT.success
}

/** Watches a run: whether the model declined, and which calls somebody would have had to permit. */
export function watchRun(): {
  see(event: RunEvent): void
  readonly declined: boolean
  hint(commandFor: (call: Reading) => string): string | undefined
} {
  const started = new Map<string, Reading>()
  const denied: Reading[] = []
  let declined = false
  return {
    see(event) {
      if (event.type === "reply" && event.declined === true) declined = true
      if (event.type === "tool-start") started.set(event.callId, { name: event.name, arguments: event.arguments })
      if (
        event.type === "tool-end" &&
        event.result.error?.code === "PERMISSION_DENIED" &&
        event.result.metadata.permission === "ask"
      )
        denied.push(started.get(event.callId) ?? { name: event.name, arguments: {} })
    },
    get declined() {
      return declined
    },
    hint(commandFor) {
      if (denied.length === 0) return undefined
      const commands = denied.map((call) => `  ${commandFor(call)}\n`).join("")
      const allowed = [...new Set(denied.map(({ name }) => `--allow-tool ${name}`))].join(" ")
      return (
        `Nobody could be asked. To do it yourself:\n${commands}To permit it without being asked: ${allowed} (or ` +
        `permissions.allow in toolwright.yaml). On a terminal you are asked.\n`
      )
    },
  }
}

/** Whether somebody can be asked about a call. */
export function canAsk({ isTTY }: Invocation): boolean {
  return isTTY.stdin && isTTY.stdout
}
