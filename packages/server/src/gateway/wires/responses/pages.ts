import type { JsonObject } from "@toolwright/toolbox"
import { RequestProblem, type KeptQuestion, type Wire } from "../../wire.ts"
import type { KeptResponses } from "./kept.ts"

/** Items of one page, unless asked otherwise and at most. */
const ITEMS = 20
const MOST_ITEMS = 100

/** What clients ask about answers that are kept: the answer again, what it was asked, and that it be forgotten. */
export function responsePages(kept: KeptResponses): NonNullable<Wire["kept"]> {
  const found = ({ caller, id }: KeptQuestion) => kept.get(caller, id) ?? notKept(id)
  return {
    "GET /v1/responses/:id": (asked) => {
      const { response } = found(asked)
      if (asked.query("stream") === "true")
        throw new RequestProblem("A response that is kept is not streamed again: ask without 'stream'.", "stream")
      return response
    },
    "DELETE /v1/responses/:id": ({ caller, id }) => {
      if (!kept.remove(caller, id)) notKept(id)
      return { id, object: "response", deleted: true }
    },
    "GET /v1/responses/:id/input_items": (asked) => {
      const { items, asked: count } = found(asked)
      return pageOf(
        items.slice(0, count).map((item, at) => wireItem(item, `${asked.id}_${at}`)),
        asked,
      )
    },
    "POST /v1/responses/:id/cancel": (asked) => {
      found(asked)
      throw new RequestProblem("Only a response in the background can be cancelled, and none is: 'background'.", "id")
    },
  }
}

function notKept(id: string): never {
  throw new RequestProblem(
    `The response '${id}' is not kept here: the last ones are, in memory, each for the token it was made with.`,
    "id",
    404,
  )
}

/** Newest first unless asked otherwise, as OpenAI lists them. */
function pageOf(items: readonly JsonObject[], question: KeptQuestion): JsonObject {
  const { limit, order, after } = pageAsked(question)
  const ordered = order === "asc" ? items : items.toReversed()
  const begin = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && begin === 0) throw new RequestProblem(`There is no item '${after}' here.`, "after")
  const data = ordered.slice(begin, begin + limit)
  const [first_id = null, last_id = null] = [data[0]?.id, data.at(-1)?.id]
  return { object: "list", data, first_id, last_id, has_more: begin + limit < ordered.length }
}

function pageAsked({ query }: KeptQuestion): { limit: number; order: string; after: string | undefined } {
  const limit = Number(query("limit") ?? ITEMS)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ITEMS)
    throw new RequestProblem(`'limit' must be a number from 1 to ${MOST_ITEMS}.`, "limit")
  const order = query("order") ?? "desc"
  if (order !== "asc" && order !== "desc") throw new RequestProblem("'order' must be asc or desc.", "order")
  return { limit, order, after: query("after") }
}

/** An item with what a client may have left out of it. */
function wireItem(item: JsonObject, id: string): JsonObject {
  const { type = "message", content } = item
  const kind = item.role === "assistant" ? "output_text" : "input_text"
  const parts = typeof content === "string" ? { content: [{ type: kind, text: content }] } : {}
  return { id, type, ...(type === "message" ? { status: "completed" } : {}), ...item, ...parts }
}
