import type { Backend } from "@toolwright/backends"
import { holdTo } from "@toolwright/dialogue"
import type { KitParts } from "./kits.ts"

/**
 * Writes texts with a model, each by a request of its own: with a schema, held to it where the server can be asked to.
 */
export function textGenerator(open: () => Promise<Backend>): NonNullable<KitParts["generator"]> {
  return {
    async generate(prompt, { schema, signal }) {
      const backend = await open()
      const form = schema === undefined ? {} : holdTo(schema, backend)
      let text = ""
      const messages = [{ role: "user", content: prompt }] as const
      for await (const event of backend.infer({ messages, ...form }, { signal }))
        if (event.type === "text-delta") text += event.text
      return text
    },
  }
}
