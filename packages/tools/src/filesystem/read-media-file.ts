import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { NAMED_PATH, PATH_ALIASES } from "./schemas.ts"

export function createReadMediaFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "read_media_file",
    sets: ["filesystem", "general"],
    does: ["read a file's bytes"],
    title: "Read media file",
    description:
      "Reads an image, a sound or any other binary file and returns its bytes in base64 with their MIME type.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: a file is not text. Don't use when: it is (use read_text_file).",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    parameters: { type: "object", properties: { path: NAMED_PATH }, required: ["path"], additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        mime_type: { type: "string" },
        type: { type: "string", enum: ["image", "audio", "video", "text", "blob"] },
        size_bytes: { type: "integer" },
        modified_time: { type: "number", description: "Seconds since 1970" },
        data: { type: "string", contentEncoding: "base64" },
      },
      required: ["path", "mime_type", "type", "size_bytes", "modified_time", "data"],
    },
    examples: [{ description: "Read an image", input: { path: "logo.png" } }],
    async execute(args) {
      const { bytes, stat, shown } = await workspace.read(args["path"] as string)
      const { mediaType } = await import("./media-type.ts")
      const mime = await mediaType(shown, bytes)
      const [kind] = mime.split("/")
      return success({
        output: `${shown}: ${mime}, ${bytes.length} bytes. The content is in the result's data, in base64.`,
        data: {
          path: shown,
          mime_type: mime,
          type: kind === "image" || kind === "audio" || kind === "video" || kind === "text" ? kind : "blob",
          size_bytes: bytes.length,
          modified_time: stat.mtimeMs / 1000,
          data: bytes.toString("base64"),
        },
      })
    },
  })
}
