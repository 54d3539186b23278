import { messageOf, type JsonObject } from "@toolwright/toolbox"
import { NetworkError } from "../net/network-error.ts"
import { asObject, asText } from "../net/network-host.ts"
import { cleanLine } from "../net/text.ts"

/** A feed of any format in one shape. */
export interface Feed {
  url: string
  format: "rss" | "atom" | "rdf" | "json"
  title: string
  description: string
  link: string
  total: number
  items: FeedItem[]
}

export interface FeedItem {
  title: string
  url: string
  published?: string
  author?: string
  summary: string
  categories?: string[]
}

const MAX_ITEMS = 5000
const SUMMARY_CHARS = 400

/**
 * Reads a feed's text. Document type declarations are dropped before parsing, so that no entity of a feed's own is expanded.
 *
 * @param url where it came from, for relative links
 * @throws NetworkError `INVALID_RESPONSE` when the text is no feed
 */
export async function normaliseFeed(text: string, url: string, limit: number): Promise<Feed> {
  const { parseFeed } = await import("feedsmith")
  let parsed: { format: Feed["format"]; feed: unknown }
  try {
    parsed = parseFeed(withoutDoctype(text)) as typeof parsed
  } catch (cause) {
    throw new NetworkError("INVALID_RESPONSE", `${url} is no RSS, Atom or JSON feed (${cleanLine(messageOf(cause), 120)}).`, {
      cause,
      hint: "Give the address of the feed itself, often …/feed, …/rss.xml or …/atom.xml.",
    })
  }
  const feed = asObject(parsed.feed)
  const entries = objectsOf(feed.items ?? feed.entries).slice(0, MAX_ITEMS)
  const seen = new Set<string>()
  const items: (FeedItem & { time: number })[] = []
  for (const entry of entries) {
    const item = normaliseItem(entry, url)
    const identity = asText(asObject(entry.guid).value) ?? asText(entry.id) ?? (item.url === "" ? item.title : item.url)
    if (seen.has(identity)) continue
    seen.add(identity)
    items.push(item)
  }
  items.sort((one, other) => other.time - one.time)
  return {
    url,
    format: parsed.format,
    title: plain(textOf(feed.title)),
    description: plain(textOf(feed.description ?? feed.subtitle)),
    link: absolute(asText(feed.link) ?? asText(feed.home_page_url) ?? alternate(feed.links), url),
    total: items.length,
    items: items.slice(0, limit).map(({ time: _time, ...item }) => item),
  }
}

/** Without its DOCTYPE, internal subset included. A quoted `>` or `]` in an entity does not end it early. */
function withoutDoctype(text: string): string {
  return text.replace(/<!DOCTYPE(?:[^[>"']|"[^"]*"|'[^']*')*(?:\[(?:[^\]"']|"[^"]*"|'[^']*')*\]\s*)?>/i, "")
}

function normaliseItem(entry: JsonObject, url: string): FeedItem & { time: number } {
  const date =
    asText(entry.pubDate) ??
    asText(entry.published) ??
    asText(entry.date_published) ??
    asText(entry.updated) ??
    asText(asObject(entry.dc).date) ??
    asText(valuesOf(asObject(entry.dc).dates)[0])
  const time = date === undefined ? Number.NaN : Date.parse(date)
  const author = plain(authorOf(entry))
  const body =
    textOf(entry.summary) ||
    textOf(entry.description) ||
    textOf(asObject(entry.content).encoded) ||
    textOf(entry.content) ||
    textOf(entry.content_text) ||
    textOf(entry.content_html)
  const categories = valuesOf(entry.categories ?? entry.tags)
    .map((category) => plain(textOf(category) || textOf(asObject(category).name) || textOf(asObject(category).term)))
    .filter((name) => name !== "")
  return {
    title: plain(textOf(entry.title)) || "(untitled)",
    url: absolute(asText(entry.link) ?? asText(entry.url) ?? alternate(entry.links) ?? permalink(entry.guid), url),
    summary: cleanLine(plain(body), SUMMARY_CHARS),
    ...(Number.isFinite(time) ? { published: new Date(time).toISOString() } : {}),
    ...(author === "" ? {} : { author }),
    ...(categories.length === 0 ? {} : { categories: categories.slice(0, 20) }),
    time: Number.isFinite(time) ? time : Number.NEGATIVE_INFINITY,
  }
}

function authorOf(entry: JsonObject): string {
  const first = valuesOf(entry.authors)[0] ?? entry.author ?? valuesOf(asObject(entry.dc).creators)[0] ?? asObject(entry.dc).creator
  return textOf(first) || textOf(asObject(first).name)
}

/** The address of the link that leads to a page (`rel="alternate"`, or no `rel`). */
function alternate(links: unknown): string | undefined {
  const all = objectsOf(links)
  return asText((all.find(({ rel }) => rel === undefined || rel === "alternate") ?? all[0])?.href)
}

function permalink(guid: unknown): string | undefined {
  const value = asText(asObject(guid).value)
  return value !== undefined && /^https?:/i.test(value) ? value : undefined
}

function absolute(link: string | undefined, base: string): string {
  if (link === undefined || !URL.canParse(link, base)) return ""
  const url = new URL(link, base)
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : ""
}

/** The text of a plain string or of an element with a `value`. */
function textOf(value: unknown): string {
  return asText(value) ?? asText(asObject(value).value) ?? ""
}

/** Markup in titles and summaries is dropped: they are shown as text. */
function plain(text: string): string {
  const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }
  return cleanLine(
    text
      .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ")
      .replace(/<\/?[a-z!][^>]*>/gi, " ")
      .replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => named[name] as string)
      .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code))),
    4000,
  )
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

function valuesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
