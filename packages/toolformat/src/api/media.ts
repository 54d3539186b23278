import { ToolwrightError } from "@toolwright/toolbox"
import type { MediaPart } from "../model/message.ts"

/** Refuses a part that an API cannot carry; leaving it out would change what the model is asked. */
export function refuseMedia(api: string, part: MediaPart): never {
  const what = "url" in part ? `${part.type} by its address` : `${part.type} (${part.mimeType})`
  throw new ToolwrightError("UNSUPPORTED_MEDIA", `${api} takes no ${what} here.`, {
    hint: "Leave the part out, or describe it in text.",
  })
}
