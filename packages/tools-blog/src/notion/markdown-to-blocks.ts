import { marked, type Token, type Tokens } from "marked"
import { cleanText } from "@toolwright/host/net"
import { richText, textItems, type RichText } from "./rich-text.ts"

/** A Notion block as its API takes it. */
export interface Block {
  object: "block"
  type: string
  [content: string]: unknown
}

/** Limits of one request (developers.notion.com/reference/request-limits). */
export const MAX_CHILDREN = 100
const MAX_RICH_TEXT = 100

/** How deep blocks may be nested in one request: children of a top-level block, and theirs. */
const MAX_DEPTH = 2

/**
 * Turns Markdown into Notion blocks: headings, paragraphs, lists with their nesting, to-dos, quotes, code, tables,
 * images by address, rules. What Notion cannot take is kept as text, never dropped without a word in `warn`.
 */
export function markdownToBlocks(markdown: string, warn: (message: string) => void): Block[] {
  const tokens = marked.lexer(cleanText(markdown), { gfm: true })
  return tokens.flatMap((token) => blocksOf(token, 0, warn))
}

function blocksOf(token: Token, depth: number, warn: (message: string) => void): Block[] {
  switch (token.type) {
    case "heading":
      return block(`heading_${Math.min(3, (token as Tokens.Heading).depth)}`, richText(token.tokens))
    case "paragraph":
    case "text":
      return paragraphs(token as Tokens.Paragraph)
    case "code":
      return code(token as Tokens.Code)
    case "blockquote":
      return parent("quote", (token as Tokens.Blockquote).tokens, depth, warn)
    case "list":
      return (token as Tokens.List).items.flatMap((item) => listItem(item, (token as Tokens.List).ordered, depth, warn))
    case "table":
      return table(token as Tokens.Table)
    case "hr":
      return [{ object: "block", type: "divider", divider: {} }]
    case "html":
      return htmlBlock(token as Tokens.HTML, warn)
    default:
      return []
  }
}

/** A paragraph; images in it become blocks of their own after it. */
function paragraphs(token: Tokens.Paragraph | Tokens.Text): Block[] {
  const tokens = token.tokens ?? [{ type: "text", raw: token.raw, text: token.text } as Token]
  const images = tokens.filter(
    (inner): inner is Tokens.Image => inner.type === "image" && isWebAddress((inner as Tokens.Image).href),
  )
  const rest = tokens.filter((inner) => !(images as Token[]).includes(inner))
  const text = richText(rest)
  const isBlank = text.every(({ text: { content } }) => content.trim() === "")
  return [...(isBlank ? [] : block("paragraph", text)), ...images.map(image)]
}

function image({ href, text }: Tokens.Image): Block {
  return {
    object: "block",
    type: "image",
    image: { type: "external", external: { url: href }, caption: textItems(text).slice(0, MAX_RICH_TEXT) },
  }
}

function code({ text, lang }: Tokens.Code): Block[] {
  const language = languageOf(lang)
  return pieces(textItems(text)).map((items) => ({
    object: "block",
    type: "code",
    code: { rich_text: items, language },
  }))
}

function listItem(item: Tokens.ListItem, isOrdered: boolean, depth: number, warn: (message: string) => void): Block[] {
  const type = item.task ? "to_do" : isOrdered ? "numbered_list_item" : "bulleted_list_item"
  const tokens = item.tokens.filter((token) => token.type !== "checkbox")
  return parent(type, tokens, depth, warn, item.task ? { checked: item.checked === true } : {})
}

/**
 * A block that holds others: its first paragraph is its own text, the rest are its children, or its siblings where it
 * is too deep.
 */
function parent(
  type: string,
  tokens: Token[],
  depth: number,
  warn: (message: string) => void,
  more: object = {},
): Block[] {
  const [first, ...others] = tokens
  const ownTokens =
    first !== undefined && (first.type === "text" || first.type === "paragraph")
      ? (first as Tokens.Text).tokens
      : undefined
  const rest = ownTokens === undefined ? tokens : others
  const [text = [], ...overflow] = pieces(richText(ownTokens))
  const children = [
    ...overflow.map((items) => textBlock("paragraph", items)),
    ...rest.flatMap((token) => blocksOf(token, depth + 1, warn)),
  ]
  const isTooDeep = depth >= MAX_DEPTH
  if (isTooDeep && children.length > 0) warn("Lists nested deeper than three levels were flattened.")
  const nested = isTooDeep ? [] : children.slice(0, MAX_CHILDREN)
  const block: Block = {
    object: "block",
    type,
    [type]: { rich_text: text, ...more, ...(nested.length === 0 ? {} : { children: nested }) },
  }
  return [block, ...(isTooDeep ? children : children.slice(MAX_CHILDREN))]
}

/** Tables have at most a hundred rows in a request; longer ones go on in another table with the same header. */
function table({ header, rows }: Tokens.Table): Block[] {
  const row = (cells: Tokens.TableCell[]): Block => ({
    object: "block",
    type: "table_row",
    table_row: { cells: header.map((_, index) => richText(cells[index]?.tokens).slice(0, MAX_RICH_TEXT)) },
  })
  const tables: Block[] = []
  for (let start = 0; start === 0 || start < rows.length; start += MAX_CHILDREN - 1) {
    const children = [row(header), ...rows.slice(start, start + MAX_CHILDREN - 1).map(row)]
    tables.push({
      object: "block",
      type: "table",
      table: { table_width: header.length, has_column_header: true, has_row_header: false, children },
    })
  }
  return tables
}

function htmlBlock({ text }: Tokens.HTML, warn: (message: string) => void): Block[] {
  const plain = text
    .replace(/<!--[^]*?-->/g, "")
    .replace(/<[^>]*>/g, "")
    .trim()
  if (plain !== "") warn("HTML in the Markdown was published as plain text.")
  return plain === "" ? [] : block("paragraph", textItems(plain))
}

/** Blocks of one kind that together hold the text, at most a hundred items in each. */
function block(type: string, items: RichText[]): Block[] {
  return pieces(items).map((piece) => textBlock(type, piece))
}

function textBlock(type: string, items: RichText[]): Block {
  return { object: "block", type, [type]: { rich_text: items } }
}

function pieces(items: RichText[]): RichText[][] {
  const found: RichText[][] = []
  for (let start = 0; start < items.length; start += MAX_RICH_TEXT)
    found.push(items.slice(start, start + MAX_RICH_TEXT))
  return found
}

function isWebAddress(address: string): boolean {
  return address.length <= 2000 && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}

/** Names that Notion knows for code; everything else is plain text. */
const LANGUAGES = new Set(
  (
    "bash c c++ c# css dart diff docker elixir erlang go graphql groovy haskell html java javascript json julia " +
    "kotlin latex less lua makefile markdown matlab mermaid nix objective-c ocaml perl php powershell prolog " +
    "protobuf python r ruby rust sass scala scheme scss shell solidity sql swift toml typescript xml yaml zig"
  ).split(" "),
)
const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  ts: "typescript",
  tsx: "typescript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "shell",
  zsh: "shell",
  console: "shell",
  yml: "yaml",
  md: "markdown",
  golang: "go",
  cs: "c#",
  cpp: "c++",
  dockerfile: "docker",
  make: "makefile",
}

function languageOf(lang: string | undefined): string {
  const name =
    (lang ?? "")
      .trim()
      .split(/[\s{,]/)[0]
      ?.toLowerCase() ?? ""
  const known = LANGUAGE_NAMES[name] ?? name
  return LANGUAGES.has(known) ? known : "plain text"
}
