import { createHash } from "node:crypto"
import {
  failure,
  success,
  ToolwrightError,
  type JsonObject,
  type ToolHandler,
  type ToolResult,
} from "@toolwright/toolbox"
import { NetworkError, networkFailure, asObject, asText, type NetworkHost, cleanLine } from "@toolwright/host/net"
import { missingArtifact, type ArtifactStore } from "@toolwright/host"
import type { NotionConfig } from "./config.ts"
import { createNotionRequest, isAmbiguous, NotionError, type NotionRequest } from "./client.ts"
import { markdownToBlocks, MAX_CHILDREN, type Block } from "./markdown-to-blocks.ts"
import { resolveParent, type PageParent } from "./parent.ts"

/** What is known of a publication, so that a second call goes on instead of beginning anew. */
interface Publication {
  pageId?: string
  url?: string
  done: boolean
  blocks: number
}

const MAX_REMEMBERED = 500
const MAX_BLOCKS_IN_REQUEST = 900
const MAX_BYTES_IN_REQUEST = 400_000
const MAX_RESUMES = 3

const NO_TOKEN = failure({
  code: "MISSING_API_KEY",
  message: "Nothing can be published: there is no token for Notion.",
  hint: "Whoever runs this must set NOTION_TOKEN. The text is finished all the same.",
})
const NO_PLACE = failure({
  code: "NOT_CONFIGURED",
  message: "It is not known where to publish.",
  hint: "Give parent_id, the id of a page or database; whoever runs this can also set NOTION_PARENT_ID.",
})

/** The handler of `blog_notion`, with its memory of what it published. */
export function createPublisher(host: NetworkHost, artifacts: ArtifactStore, config: NotionConfig): ToolHandler {
  const publications = new Map<string, Publication>()
  const running = new Map<string, Promise<ToolResult>>()

  return async (args, context) => {
    const markdown = asText(args.content) ?? asText(artifacts.get(context, "content"))
    if (markdown === undefined || markdown.trim() === "") {
      return missingArtifact(
        "content",
        "Publishing",
        'Call assemble_content first, or give the text: {"title": "…", "content": "# …"}',
      )
    }
    const token = config.token ?? host.env("NOTION_TOKEN")
    const parentId = asText(args.parent_id) ?? config.parentId ?? host.env("NOTION_PARENT_ID")
    if (token === undefined) return NO_TOKEN
    if (parentId === undefined) return NO_PLACE
    const title = titleOf(args, markdown)
    const key = keyOf(context.caller, asText(args.idempotency_key), [parentId, title, markdown])
    const started = running.get(key)
    if (started !== undefined) return started
    const publication = publications.get(key) ?? { done: false, blocks: 0 }
    remember(publications, key, publication)
    const request = createNotionRequest(host, config, token, context.signal)
    const publishing = publish(request, publication, { title, markdown, parentId, args }).finally(() =>
      running.delete(key),
    )
    running.set(key, publishing)
    const result = await publishing
    if (result.success) artifacts.set(context, "published_url", publication.url)
    return result
  }
}

function titleOf(args: JsonObject, markdown: string): string {
  return cleanLine(asText(args.title) ?? /^#\s+(.+)$/m.exec(markdown)?.[1] ?? "Untitled", 2000)
}

/**
 * By what a publication is known again: its own name, else all that it is. What one caller of a server has published is
 * not told to another.
 */
function keyOf(caller: string | undefined, named: string | undefined, wanted: readonly string[]): string {
  const known = named === undefined ? wanted : [named]
  return createHash("sha256")
    .update(JSON.stringify([caller, ...known]))
    .digest("hex")
}

async function publish(
  request: NotionRequest,
  publication: Publication,
  wanted: { title: string; markdown: string; parentId: string; args: JsonObject },
): Promise<ToolResult> {
  const warnings = new Set<string>()
  const warn = (text: string) => void warnings.add(text)
  const { title, markdown, parentId, args } = wanted
  if (publication.done) return published(publication, true, [])
  try {
    const blocks = markdownToBlocks(withoutTitle(markdown, title), warn)
    let written: number
    if (publication.pageId === undefined) {
      const parent = await resolveParent(request, parentId, title, args, warn)
      written = await createPage(request, publication, parent, title, blocks)
    } else written = await countChildren(request, publication.pageId)
    await appendRest(request, publication, blocks, written)
    publication.done = true
    publication.blocks = blocks.length
    return published(publication, false, [...warnings])
  } catch (thrown) {
    return publishFailure(thrown, publication)
  }
}

/**
 * Creates the page with its first blocks. Where nobody knows whether that happened, the page is looked for before
 * another is made.
 */
async function createPage(
  request: NotionRequest,
  publication: Publication,
  parent: PageParent,
  title: string,
  blocks: readonly Block[],
): Promise<number> {
  const first = chunkFrom(blocks, 0)
  const since = Date.now() - 120_000
  const body = {
    parent: { type: parent.kind, [parent.kind]: parent.id },
    properties: parent.properties,
    ...(first.length === 0 ? {} : { children: first }),
  }
  try {
    remembered(publication, await request("POST", "/v1/pages", body))
    return first.length
  } catch (thrown) {
    if (!isAmbiguous(thrown)) throw thrown
    const found = await findPage(request, parent, title, since)
    if (found === undefined) throw thrown
    remembered(publication, found)
    return await countChildren(request, String(found.id))
  }
}

function remembered(publication: Publication, page: JsonObject): void {
  publication.pageId = asText(page.id) ?? ""
  publication.url = asText(page.url) ?? `https://www.notion.so/${publication.pageId.replaceAll("-", "")}`
}

async function appendRest(
  request: NotionRequest,
  publication: Publication,
  blocks: readonly Block[],
  from: number,
): Promise<void> {
  let [written, resumes] = [from, 0]
  while (written < blocks.length) {
    const chunk = chunkFrom(blocks, written)
    try {
      await request("PATCH", `/v1/blocks/${publication.pageId}/children`, { children: chunk })
      written += chunk.length
    } catch (thrown) {
      if (!isAmbiguous(thrown) || ++resumes > MAX_RESUMES) throw thrown
      written = await countChildren(request, publication.pageId as string)
    }
  }
}

/** The next blocks that fit into one request: by their number, all nested ones counted, and by size. */
function chunkFrom(blocks: readonly Block[], start: number): Block[] {
  const chunk: Block[] = []
  let [count, bytes] = [0, 0]
  for (const block of blocks.slice(start, start + MAX_CHILDREN)) {
    const text = JSON.stringify(block)
    count += text.split('"object":"block"').length - 1
    bytes += Buffer.byteLength(text)
    if (chunk.length > 0 && (count > MAX_BLOCKS_IN_REQUEST || bytes > MAX_BYTES_IN_REQUEST)) break
    chunk.push(block)
  }
  return chunk
}

async function countChildren(request: NotionRequest, pageId: string): Promise<number> {
  let count = 0
  await pages(
    request,
    (cursor) => ["GET", childrenOf(pageId, cursor)],
    () => {
      count++
      return false
    },
  )
  return count
}

/** The page of this title that was created under the parent since then. */
async function findPage(
  request: NotionRequest,
  parent: PageParent,
  title: string,
  since: number,
): Promise<JsonObject | undefined> {
  const isNew = (item: JsonObject) => Date.parse(asText(item.created_time) ?? "") >= since
  if (parent.kind === "data_source_id") {
    const filter = { property: parent.titleProperty, title: { equals: title } }
    const sorts = [{ timestamp: "created_time", direction: "descending" }]
    return pages(
      request,
      (cursor) => [
        "POST",
        `/v1/data_sources/${parent.id}/query`,
        { filter, sorts, page_size: 10, ...(cursor === undefined ? {} : { start_cursor: cursor }) },
      ],
      isNew,
    )
  }
  return pages(
    request,
    (cursor) => ["GET", childrenOf(parent.id, cursor)],
    (item) => asText(asObject(item.child_page).title) === title && isNew(item),
  )
}

async function pages(
  request: NotionRequest,
  next: (cursor: string | undefined) => Parameters<NotionRequest>,
  isWanted: (item: JsonObject) => boolean,
): Promise<JsonObject | undefined> {
  let cursor: string | undefined
  do {
    const page = await request(...next(cursor))
    for (const item of Array.isArray(page.results) ? page.results.map(asObject) : []) {
      if (isWanted(item)) return item
    }
    cursor = page.has_more === true ? asText(page.next_cursor) : undefined
  } while (cursor !== undefined)
  return undefined
}

/** Without a first heading that only repeats the title, which Notion shows anyway. */
function withoutTitle(markdown: string, title: string): string {
  const first = /^\s*#\s+(.+)\n?/.exec(markdown)
  return first !== null && cleanLine(first[1] ?? "", 2000) === title ? markdown.slice(first[0].length) : markdown
}

function remember(publications: Map<string, Publication>, key: string, publication: Publication): void {
  publications.delete(key)
  publications.set(key, publication)
  if (publications.size > MAX_REMEMBERED) publications.delete(publications.keys().next().value as string)
}

function published(
  { pageId = "", url = "", blocks }: Publication,
  isRepeated: boolean,
  warnings: string[],
): ToolResult {
  return success({
    output: [`${isRepeated ? "Already published" : "Published"}: ${url}`, ...warnings].join("\n"),
    data: {
      url,
      page_id: pageId,
      blocks,
      already_published: isRepeated,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  })
}

function publishFailure(thrown: unknown, publication: Publication): ToolResult {
  const partial = publication.pageId === undefined ? {} : { page_id: publication.pageId, url: publication.url }
  const goOn = publication.pageId === undefined ? "" : " The page exists in part; the same call goes on with it."
  if (thrown instanceof NetworkError) {
    const { error } = networkFailure(thrown, "Publishing to Notion")
    return failure({
      ...error,
      message: `${error.message}${goOn}`,
      details: { ...error.details, ...partial },
    })
  }
  if (!ToolwrightError.isInstance(thrown)) throw thrown
  const { status, retryAfterSeconds } =
    thrown instanceof NotionError ? thrown : { status: 0, retryAfterSeconds: undefined }
  return failure({
    code: thrown.code,
    message: `Publishing failed: ${thrown.message}${goOn}`,
    ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
    retryable: status === 409 || status === 429 || status >= 500,
    details: { status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }), ...partial },
  })
}

/** The address of a block's children, from a cursor on. */
function childrenOf(block: string, cursor: string | undefined): string {
  const from = cursor === undefined ? "" : `&start_cursor=${encodeURIComponent(cursor)}`
  return `/v1/blocks/${block}/children?page_size=100${from}`
}
