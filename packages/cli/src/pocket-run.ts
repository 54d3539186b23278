import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { EXIT, type Invocation } from "./command.ts"

/** What is said of the pocket model before it answers in place of a model that is not configured. */
export const POCKET_NOTICE =
  "No model is configured: the built-in pocket model answers (3 MB, 18 tools, for trying out). For a real one give --model NAME --base-url URL, or write them into toolwright.yaml.\n"

/** What is said when it cannot help. */
export const POCKET_ADVICE =
  "A real model may know what to do, for example one that Ollama serves: --model qwen2.5-coder:7b --base-url http://localhost:11434/v1\n"

/**
 * The exit code of a run with the pocket model, which never finds fault with itself: 1 also when it declined, or when a
 * call failed and
 * none of the same tool went well afterwards.
 */
export function pocketExitCode(summary: RunSummary, declined: boolean): number {
  return declined || summary.failedCalls > summary.correctedFailures ? EXIT.failure : EXIT.success
}

/** Watches a run for calls that somebody would have had to permit. */
export function deniedCalls(): { see(event: RunEvent): void; hint(): string | undefined } {
  const names = new Set<string>()
  return {
    see(event) {
      if (
        event.type === "tool-end" &&
        event.result.error?.code === "PERMISSION_DENIED" &&
        event.result.metadata.permission === "ask"
      )
        names.add(event.name)
    },
    hint: () =>
      names.size === 0
        ? undefined
        : `To permit it without being asked: ${[...names].map((name) => `--allow-tool ${name}`).join(" ")} (or permissions.allow in toolwright.yaml). On a terminal you are asked.\n`,
  }
}

/** Whether somebody can be asked about a call. */
export function canAsk({ isTTY }: Invocation): boolean {
  return isTTY.stdin && isTTY.stdout
}
