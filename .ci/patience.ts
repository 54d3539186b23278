import { vi } from "vitest"

/** Longer than a busy machine takes; what never comes is still told. */
const PATIENCE = 120_000

const { waitFor } = vi

/** What a test waits for may take longer than a second, the default, or than it says, while others fill all cores. */
vi.waitFor = (callback, options) => {
  const { timeout = 0, interval } = typeof options === "number" ? { timeout: options } : (options ?? {})
  const most = Math.max(timeout, PATIENCE)
  return waitFor(callback, interval === undefined ? { timeout: most } : { timeout: most, interval })
}
