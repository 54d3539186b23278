import { vi } from "vitest"

/** Longer than a busy machine takes; what never comes is still told. */
const PATIENCE = 120_000

const { waitFor } = vi

/** What a test waits for may take longer than a second, the default, while other tests fill all cores. */
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE, ...options })
