/**
 * Whether what is installed here has what the rest takes it to have: the engine and the driver are written down by
 * shape, since they may not be there. Nothing runs; that this compiles is the proof.
 */
import type * as llama from "node-llama-cpp"
import type * as playwright from "playwright-core"
import type { LlamaContext, LlamaModel, LlamaModule, LlamaSequence } from "../../packages/backends/src/llama/module.ts"
import type { Browser, Locator, Page } from "../../packages/cli/src/testing/browser-driver.ts"

/** True where the real one has all that ours names. */
type Has<Real, Ours> = keyof Ours extends keyof Real ? true : false

export const whole: readonly [
  Has<typeof llama, LlamaModule>,
  Has<llama.LlamaModel, LlamaModel>,
  Has<llama.LlamaContext, LlamaContext>,
  Has<llama.LlamaContextSequence, LlamaSequence>,
  Has<playwright.Browser, Browser>,
  Has<playwright.Page, Page>,
  Has<playwright.Locator, Locator>,
] = [true, true, true, true, true, true, true]
