import { ToolwrightError } from "@toolwright/toolbox"
import type { MediaPart } from "../model/message.ts"

/** Refuses a part that an API cannot carry; leaving it out would change what the model is asked. */
export function refuseMedia(api: string, part: MediaPart): never {
  throw new ToolwrightError("UNSUPPORTED_MEDIA", `${api} takes no ${part.type} (${part.mimeType}) here.`, {
    hint: "Leave the part out, or describe it in text.",
  })
}
