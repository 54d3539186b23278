import { Readability } from "@mozilla/readability"
import { parseHTML } from "linkedom"
import TurndownService from "turndown"
import { gfm } from "turndown-plugin-gfm"
import { cleanLine, cleanText } from "@toolwright/host/net"
import type { DomDocument, DomElement } from "./dom.ts"
import { removeHidden } from "./remove-hidden.ts"

/** A page to turn into text. */
export interface ExtractRequest {
  html: string
  url: string
  mode: "article" | "full"
}

/** What a page says. */
export interface Extracted {
  title: string
  markdown: string
  byline?: string
  published?: string
}

/**
 * The readable content of a page as Markdown. Synchronous and unbounded in time: call it through `extractInProcess`.
 *
 * `article` takes what Readability finds to be the main text, and everything visible where it finds none; `full` always
 * takes everything visible.
 */
export function htmlToMarkdown({ html, url, mode }: ExtractRequest): Extracted {
  const document = parse(wholeDocument(html))
  // Before what is hidden is taken out, since a page may hide them.
  const page = aboutPage(document)
  removeHidden(document)
  makeAbsolute(document, url)
  const article =
    mode === "article"
      ? new Readability(document.cloneNode(true) as unknown as ReadabilityDocument, { charThreshold: 200 }).parse()
      : null
  const byline = article?.byline ?? page.author ?? ""
  return {
    title: cleanLine(article?.title || page.title),
    markdown: toMarkdown(article?.content ?? document.body?.innerHTML ?? ""),
    ...(byline === "" ? {} : { byline: cleanLine(byline) }),
    ...(page.published === undefined ? {} : { published: cleanLine(page.published, 60) }),
  }
}

/** What a page says of itself. */
function aboutPage(document: DomDocument): { title: string; author?: string; published?: string } {
  const said = (selector: string, attribute: string): string | undefined =>
    document.querySelector(selector)?.getAttribute(attribute) ?? undefined
  const author = said('meta[name="author"]', "content")
  const published = said('meta[property="article:published_time"]', "content") ?? said("time[datetime]", "datetime")
  return {
    title: document.querySelector("title")?.textContent ?? document.querySelector("h1")?.textContent ?? "",
    ...(author === undefined ? {} : { author }),
    ...(published === undefined ? {} : { published }),
  }
}

type ReadabilityDocument = ConstructorParameters<typeof Readability>[0]

function parse(html: string): DomDocument {
  return (parseHTML(html) as unknown as { document: DomDocument }).document
}

/** A fragment gets the frame that the parser needs to find `head` and `body`. */
function wholeDocument(html: string): string {
  return /<(html|body|head)[\s>]/i.test(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`
}

function toMarkdown(html: string): string {
  const turndown = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    hr: "---",
    emDelimiter: "*",
  })
  turndown.use(gfm)
  turndown.addRule("image", {
    filter: "img",
    replacement: (_, node) => {
      const image = node as unknown as DomElement
      const source = image.getAttribute("src") ?? ""
      const alternative = (image.getAttribute("alt") ?? "").replace(/[\s[\]]+/g, " ").trim()
      return source === "" ? alternative : `![${alternative}](${source})`
    },
  })
  turndown.addRule("list item", {
    filter: "li",
    replacement: (content, node) => {
      const item = node as unknown as DomElement & { parentNode: { nodeName: string; children: ArrayLike<unknown> } }
      const isOrdered = item.parentNode.nodeName === "OL"
      const marker = isOrdered ? `${Array.prototype.indexOf.call(item.parentNode.children, item) + 1}. ` : "- "
      return `${marker}${content.trim().replace(/\n(?=[^\n])/g, `\n${" ".repeat(marker.length)}`)}\n`
    },
  })
  // Given as text: the rules for tables need a DOM with `rows`, which turndown's own parser has and linkedom has not.
  const markdown = turndown.turndown(html)
  return cleanText(markdown)
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
}

/** Links and images get whole http(s) addresses; whatever else they point to (scripts, embedded data) is dropped. */
function makeAbsolute(document: DomDocument, pageUrl: string): void {
  const base = resolved(document.querySelector("base[href]")?.getAttribute("href") ?? "", pageUrl) ?? pageUrl
  for (const [selector, attribute] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const target = resolved(element.getAttribute(attribute) ?? "", base)
      if (target === undefined) element.removeAttribute(attribute)
      else element.setAttribute(attribute, target)
    }
  }
}

function resolved(target: string, base: string): string | undefined {
  if (!URL.canParse(target, base)) return undefined
  const url = new URL(target, base)
  return url.protocol === "http:" || url.protocol === "https:" || url.protocol === "mailto:" ? url.href : undefined
}
