import { defineTool, failure, success, type ToolDefinition } from "@toolwright/toolbox"

/** Handles that a wrong one is answered with. */
const MOST_NAMED = 20

/**
 * Keeps the whole text of results that the model was shown in part, and the tool that reads on in them. The tool is
 * offered from the first cut on, and not before.
 */
export class ResultStore {
  readonly #texts = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#texts.size === 0
  }

  keep(callId: string, text: string): void {
    this.#texts.set(callId, text)
  }

  has(handle: string): boolean {
    return this.#texts.has(handle)
  }

  howToRead(handle: string): string {
    return `${this.tool.name} with call_id "${handle}"`
  }

  readonly tool: ToolDefinition = defineTool({
    name: "read_result",
    description: "Reads on in a tool result that was shown only in part",
    category: "utility",
    effects: { readOnly: true, idempotent: true },
    maxOutputChars: 9000,
    parameters: {
      type: "object",
      properties: {
        call_id: { type: "string", description: "The id that the shortened result names" },
        offset: { type: "integer", minimum: 0, default: 0, description: "Where to begin, in characters" },
        limit: { type: "integer", minimum: 1, maximum: 8000, default: 4000, description: "How many characters" },
      },
      required: ["call_id"],
      additionalProperties: false,
    },
    execute: ({ call_id, offset = 0, limit = 4000 }) => {
      const text = this.#texts.get(String(call_id))
      if (text === undefined) {
        const known = [...this.#texts.keys()].slice(-MOST_NAMED).join(", ")
        return failure({
          code: "UNKNOWN_RESULT",
          message: `No result is kept under '${String(call_id)}'.`,
          hint: `Kept: ${known}.`,
        })
      }
      const from = Number(offset)
      const part = text.slice(from, from + Number(limit))
      const end = from + part.length
      const more = end < text.length ? `\n[${text.length - end} characters follow; go on with offset ${end}.]` : ""
      return success({ output: part + more, data: { offset: from, end, total: text.length } })
    },
  })
}
