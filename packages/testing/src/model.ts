import type { Backend } from "@toolwright/backends"
import type { AgentCall } from "./run/agent-run.ts"

/** A model of this package: a backend that knows what should have been asked of it. */
export interface TestModel extends Backend {
  /**
   * Call it at the end of a test; `runAgent` and `followRun` do.
   *
   * @throws the first thing that went wrong: a check that failed, a request that was not foreseen; otherwise replies
   *   that nobody asked for
   */
  done(): void
  /**
   * Looks at what became of its calls, where they were written as text and could not be held to the tools before.
   *
   * @throws ToolwrightError for a call that was wrong and not meant to be
   */
  judge?(calls: readonly AgentCall[]): void
}

/** Whether a backend is one of this package's. */
export function isTestModel(backend: Backend | undefined): backend is TestModel {
  return backend !== undefined && typeof (backend as Partial<TestModel>).done === "function"
}
