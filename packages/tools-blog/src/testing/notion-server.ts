import type { ServerResponse } from "node:http"
import { json, startLoopback, type LoopbackServer, type SeenRequest } from "@toolwright/host/testing/loopback-server"

interface Page {
  id: string
  created_time: string
  parent: Record<string, string>
  properties: Record<string, unknown>
  children: Record<string, unknown>[]
}

/** A server that answers as Notion's API does, with its limits, and can be told to fail. */
export interface NotionServer extends LoopbackServer {
  readonly pages: Page[]
  /** Faults for the next requests that match, in order; `after` carries the request out first. */
  readonly faults: {
    match: RegExp
    status?: number
    headers?: Record<string, string>
    cut?: boolean
    after?: boolean
  }[]
}

export const PARENT_PAGE = "11111111-1111-1111-1111-111111111111"
export const DATABASE = "22222222-2222-2222-2222-222222222222"
const DATA_SOURCE = "33333333-3333-3333-3333-333333333333"

export async function startNotion(token = "ntn_canary"): Promise<NotionServer> {
  const pages: Page[] = []
  const faults: NotionServer["faults"] = []
  const server = await startLoopback((request, response) => {
    const fault = takeFault(faults, request)
    if (fault !== undefined && fault.after !== true) return fail(response, fault)
    const { status, value } = handle(request, pages, token)
    if (fault !== undefined) return fail(response, fault)
    json(response, status, value)
  })
  return { ...server, pages, faults }
}

function takeFault(faults: NotionServer["faults"], { method, url }: SeenRequest) {
  const index = faults.findIndex(({ match }) => match.test(`${method} ${url.pathname}`))
  return index < 0 ? undefined : faults.splice(index, 1)[0]
}

function fail(response: ServerResponse, { status = 500, headers, cut }: NotionServer["faults"][number]): void {
  if (cut === true) return void response.destroy()
  json(response, status, { object: "error", status, code: "fault", message: `fault ${status}` }, headers)
}

function handle(request: SeenRequest, pages: Page[], token: string): { status: number; value: unknown } {
  const { method, url, headers, body } = request
  const error = (status: number, code: string, message: string) => ({
    status,
    value: { object: "error", status, code, message },
  })
  if (headers.authorization !== `Bearer ${token}`) return error(401, "unauthorized", "API token is invalid.")
  if (headers["notion-version"] !== "2025-09-03")
    return error(400, "missing_version", "Notion-Version header failed validation")
  const input = body === "" ? {} : (JSON.parse(body) as Record<string, unknown>)
  const broken = brokenLimit(input.children, 0)
  if (broken !== undefined) return error(400, "validation_error", `body failed validation: ${broken}`)
  const [, , kind, id = "", last] = url.pathname.split("/")
  if (method === "GET" && kind === "databases" && id === DATABASE)
    return { status: 200, value: { object: "database", id, data_sources: [{ id: DATA_SOURCE, name: "Posts" }] } }
  if (method === "GET" && kind === "data_sources")
    return {
      status: 200,
      value: {
        object: "data_source",
        properties: { Headline: { type: "title" }, Tags: { type: "multi_select" }, Status: { type: "status" } },
      },
    }
  if (method === "GET" && kind === "pages" && id === PARENT_PAGE) return { status: 200, value: { object: "page", id } }
  if (method === "POST" && kind === "pages") {
    const page: Page = {
      id: `44444444-0000-0000-0000-${String(pages.length).padStart(12, "0")}`,
      created_time: new Date().toISOString(),
      parent: input.parent as Page["parent"],
      properties: input.properties as Page["properties"],
      children: (input.children as Page["children"] | undefined) ?? [],
    }
    pages.push(page)
    return { status: 200, value: wire(page) }
  }
  if (method === "POST" && kind === "data_sources" && last === "query") {
    const wanted = (input.filter as { title: { equals: string } }).title.equals
    return {
      status: 200,
      value: {
        results: pages.filter((page) => JSON.stringify(page.properties).includes(JSON.stringify(wanted))).map(wire),
        has_more: false,
      },
    }
  }
  if (kind === "blocks" && last === "children") {
    const page = pages.find((one) => one.id === id)
    if (id === PARENT_PAGE && method === "GET")
      return {
        status: 200,
        value: {
          results: pages.map((one) => ({ ...wire(one), type: "child_page", child_page: { title: titleOf(one) } })),
          has_more: false,
        },
      }
    if (page === undefined) return error(404, "object_not_found", "Could not find block")
    if (method === "PATCH") {
      page.children.push(...(input.children as Page["children"]))
      return { status: 200, value: { results: [] } }
    }
    const start = Number(url.searchParams.get("start_cursor") ?? 0)
    const end = start + Number(url.searchParams.get("page_size") ?? 100)
    return {
      status: 200,
      value: {
        results: page.children.slice(start, end),
        has_more: end < page.children.length,
        next_cursor: end < page.children.length ? String(end) : null,
      },
    }
  }
  return error(404, "object_not_found", `Could not find ${kind} with ID: ${id}.`)
}

const wire = ({ id, created_time, properties }: Page) => ({
  object: "page",
  id,
  created_time,
  properties,
  url: `https://www.notion.so/${id.replaceAll("-", "")}`,
})
const titleOf = (page: Page) =>
  (page.properties.title as { title: { text: { content: string } }[] } | undefined)?.title[0]?.text.content

/** The first limit of the API that blocks break, if any. */
function brokenLimit(children: unknown, depth: number): string | undefined {
  if (children === undefined) return undefined
  const blocks = children as Record<string, unknown>[]
  if (blocks.length > 100) return `children.length should be ≤ 100, instead was ${blocks.length}`
  if (depth > 2) return "children should be not present below two levels of nesting"
  for (const block of blocks) {
    const content = block[block.type as string] as
      | { rich_text?: { text: { content: string; link?: { url: string } } }[]; children?: unknown; cells?: unknown[][] }
      | undefined
    if (content === undefined) return `${String(block.type)} should be defined`
    for (const items of [
      content.rich_text ?? [],
      ...((content.cells ?? []) as NonNullable<typeof content.rich_text>[]),
    ]) {
      if (items.length > 100) return "rich_text.length should be ≤ 100"
      for (const { text } of items) {
        if (text.content.length > 2000) return "text.content.length should be ≤ 2000"
        if (text.link !== undefined && !/^(https?:|mailto:)/.test(text.link.url)) return "Invalid URL for link."
      }
    }
    const broken = brokenLimit(content.children, depth + 1)
    if (broken !== undefined) return broken
  }
  return undefined
}
