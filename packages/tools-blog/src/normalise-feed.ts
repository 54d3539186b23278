import { messageOf, type JsonObject } from "@toolwright/toolbox"
import { NetworkError, asObject, asText, cleanLine, withoutMarkup } from "@toolwright/host/net"

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
 * Reads a feed's text. Document type declarations are dropped before parsing, so that no entity of a feed's own is
 * expanded.
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
    throw new NetworkError(
      "INVALID_RESPONSE",
      `${url} is no RSS, Atom or JSON feed (${cleanLine(messageOf(cause), 120)}).`,
      {
        cause,
        hint: "Give the address of the feed itself, often …/feed, …/rss.xml or …/atom.xml.",
      },
    )
  }
  const feed = asObject(parsed.feed)
  const entries = objectsOf(feed.items ?? feed.entries).slice(0, MAX_ITEMS)
  const seen = new Set<string>()
  const unique = entries.filter((entry) => {
    const identity = asText(asObject(entry.guid).value) ?? asText(entry.id) ?? linkOf(entry) ?? textOf(entry.title)
    if (seen.has(identity)) return false
    seen.add(identity)
    return true
  })
  const newest = unique
    .map((entry) => ({ entry, time: timeOf(entry) }))
    .sort((one, other) => compareTimes(other.time, one.time))
  return {
    url,
    format: parsed.format,
    title: plain(textOf(feed.title)),
    description: plain(textOf(feed.description ?? feed.subtitle)),
    link: absolute(asText(feed.link) ?? asText(feed.home_page_url) ?? alternate(feed.links), url),
    total: unique.length,
    items: newest.slice(0, limit).map(({ entry, time }) => normaliseItem(entry, time, url)),
  }
}

/**
 * Without the DOCTYPE of its prolog, internal subset included. A quoted `>` or `]` in an entity does not end it early.
 */
function withoutDoctype(text: string): string {
  const start = text.search(/<!DOCTYPE/i)
  const isProlog = start >= 0 && text.trimStart().startsWith("<") && !/<[a-z]/i.test(text.slice(0, start))
  if (!isProlog) return text
  let isInside = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || character === "'") {
      at = text.indexOf(character, at + 1)
      if (at < 0) return text.slice(0, start)
    } else if (character === "[") isInside = true
    else if (character === "]") isInside = false
    else if (character === ">" && !isInside) return text.slice(0, start) + text.slice(at + 1)
  }
  return text.slice(0, start)
}

/** When an entry was published, in milliseconds; NaN where it does not say. */
function timeOf(entry: JsonObject): number {
  const core = asObject(entry.dc)
  const dates = [
    entry.pubDate,
    entry.published,
    entry.date_published,
    entry.updated,
    core.date,
    valuesOf(core.dates)[0],
  ]
  return Date.parse(asText(dates.find((date) => typeof date === "string")) ?? "")
}

/** Entries without a date come last, in the feed's order. */
function compareTimes(one: number, other: number): number {
  if (Number.isNaN(one) || Number.isNaN(other))
    return Number.isNaN(one) === Number.isNaN(other) ? 0 : Number.isNaN(one) ? -1 : 1
  return one - other
}

function linkOf(entry: JsonObject): string | undefined {
  return asText(entry.link) ?? asText(entry.url) ?? alternate(entry.links) ?? permalink(entry.guid)
}

function normaliseItem(entry: JsonObject, time: number, url: string): FeedItem {
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
    url: absolute(linkOf(entry), url),
    summary: cleanLine(plain(body), SUMMARY_CHARS),
    ...(Number.isFinite(time) ? { published: new Date(time).toISOString() } : {}),
    ...(author === "" ? {} : { author }),
    ...(categories.length === 0 ? {} : { categories: categories.slice(0, 20) }),
  }
}

function authorOf(entry: JsonObject): string {
  const first =
    valuesOf(entry.authors)[0] ?? entry.author ?? valuesOf(asObject(entry.dc).creators)[0] ?? asObject(entry.dc).creator
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
  return cleanLine(withoutMarkup(text.slice(0, 20_000)), 4000)
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

function valuesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
