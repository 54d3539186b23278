import { open } from "node:fs/promises"
import { resolve } from "node:path"
import type { Backend } from "@toolwright/backends"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { MediaPart } from "@toolwright/toolformat"

/** A picture or a sound that belongs to a task: as it is sent, as bytes, or as a file of this machine. */
export type TaskMedia =
  | MediaPart
  | { type: "image" | "audio"; path: string }
  | { type: "image" | "audio"; bytes: Uint8Array }

/** Largest file that is sent; servers take less. */
const MOST_BYTES = 20 * 1024 * 1024

/**
 * What a model is sent of them.
 *
 * @throws ToolwrightError `FILE_NOT_READ`; `UNSUPPORTED_MEDIA` for what is no picture or sound that servers take, or
 *   where the backend passes none on: a question about a picture that nobody sees would be answered all the same
 */
export async function mediaFor(media: readonly TaskMedia[], backend: Backend, cwd: string): Promise<MediaPart[]> {
  const parts: MediaPart[] = []
  for (const part of media) parts.push(await sent(part, cwd))
  const messages = [{ role: "user" as const, content: "", media: parts }]
  const left = backend.leavesOut === undefined ? ["images"] : backend.leavesOut({ messages })
  if (parts.length > 0 && left.includes("images"))
    throw new ToolwrightError(
      "UNSUPPORTED_MEDIA",
      `The model '${backend.modelName()}' is sent no pictures or sounds here.`,
      {
        hint: "Use a model that sees, behind a server that speaks OpenAI's chat completions, or describe it in words.",
      },
    )
  return parts
}

async function sent(part: TaskMedia, cwd: string): Promise<MediaPart> {
  if (!("path" in part) && !("bytes" in part)) return part
  const name = "path" in part ? `'${part.path}'` : "What was given"
  const bytes = "path" in part ? await read(resolve(cwd, part.path)) : part.bytes
  const mimeType = mimeOf(bytes)
  if (mimeType?.startsWith(`${part.type}/`) === true)
    return { type: part.type, mimeType, base64: Buffer.from(bytes).toString("base64") }
  const kinds = part.type === "image" ? "a PNG, JPEG, GIF or WebP picture" : "a WAV or MP3 sound"
  throw new ToolwrightError("UNSUPPORTED_MEDIA", `${name} is not ${kinds}.`, { hint: "Convert it first." })
}

async function read(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path)
    const stat = await file.stat()
    if (!stat.isFile()) throw new Error("it is no regular file")
    if (stat.size > MOST_BYTES) throw new Error(`it has ${stat.size} bytes, and ${MOST_BYTES} may be sent`)
    return await file.readFile()
  } catch (thrown) {
    throw new ToolwrightError("FILE_NOT_READ", `${path} cannot be read: ${messageOf(thrown)}.`)
  }
}

/** By the first bytes: names of files say nothing of what is in them. */
function mimeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (head.startsWith("GIF8")) return "image/gif"
  if (head.startsWith("RIFF")) return { WEBP: "image/webp", WAVE: "audio/wav" }[head.slice(8)]
  return head.startsWith("ID3") || /^\xff[\xf2\xf3\xfb]/.test(head) ? "audio/mpeg" : undefined
}
