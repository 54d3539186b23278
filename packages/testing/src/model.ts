import type { Backend } from "@toolwright/backends"

/** A model of this package: a backend that knows what should have been asked of it. */
export interface TestModel extends Backend {
  /**
   * Call it at the end of a test; `runAgent` and `followRun` do.
   *
   * @throws the first thing that went wrong: a check that failed, a request that was not foreseen; otherwise replies that nobody asked for
   */
  done(): void
}

/** Whether a backend is one of this package's. */
export function isTestModel(backend: Backend | undefined): backend is TestModel {
  return backend !== undefined && typeof (backend as Partial<TestModel>).done === "function"
}
