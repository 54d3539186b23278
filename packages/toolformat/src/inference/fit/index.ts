import type { Samples } from "../samples.ts"
import { fitEnvelope } from "./envelope.ts"
import type { Fitted } from "./fitted.ts"
import { fitGemma } from "./gemma.ts"
import { fitNamed } from "./named.ts"
import { fitNested } from "./nested.ts"
import { fitParameters } from "./parameters.ts"
import { fitPython } from "./python.ts"

export type { Fitted } from "./fitted.ts"

/** Each codec's way to read a syntax off a template's renderings, the particular before the general. */
const FITS: readonly ((samples: Samples) => Fitted | undefined)[] = [
  fitEnvelope,
  fitNamed,
  fitPython,
  fitGemma,
  fitNested,
  fitParameters,
]

/** Every syntax that these renderings could be. */
export function fitAll(samples: Samples): Fitted[] {
  return FITS.flatMap((fit) => fit(samples) ?? [])
}
