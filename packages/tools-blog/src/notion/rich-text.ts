import type { Token, Tokens } from "marked"

/** A piece of text with one formatting, as Notion's API takes it. */
export interface RichText {
  type: "text"
  text: { content: string; link?: { url: string } }
  annotations?: Partial<Record<"bold" | "italic" | "strikethrough" | "code", true>>
}

/** Most characters of one piece (developers.notion.com/reference/request-limits). */
const MAX_CONTENT = 2000

interface Style {
  annotations: NonNullable<RichText["annotations"]>
  link?: string
}

/**
 * Inline Markdown as pieces of text. Links that are no web or mail addresses stay as text: Notion would refuse the
 * page.
 */
export function richText(tokens: readonly Token[] | undefined, style: Style = { annotations: {} }): RichText[] {
  return (tokens ?? []).flatMap((token) => {
    const styled = (name: keyof Style["annotations"]) =>
      richText((token as Tokens.Strong).tokens, { ...style, annotations: { ...style.annotations, [name]: true } })
    switch (token.type) {
      case "strong":
        return styled("bold")
      case "em":
        return styled("italic")
      case "del":
        return styled("strikethrough")
      case "codespan":
        return textItems((token as Tokens.Codespan).text, {
          ...style,
          annotations: { ...style.annotations, code: true },
        })
      case "link": {
        const { href, tokens: inner } = token as Tokens.Link
        return richText(inner, isLinkable(href) ? { ...style, link: href } : style)
      }
      case "image": {
        const { href, text } = token as Tokens.Image
        return textItems(text || "image", isLinkable(href) ? { ...style, link: href } : style)
      }
      case "br":
        return textItems("\n", style)
      case "html":
        return textItems((token as Tokens.Tag).text.replace(/<br\s*\/?>/gi, "\n").replace(/<[^>]*>/g, ""), style)
      default: {
        const inner = (token as Tokens.Text).tokens
        return inner === undefined ? textItems((token as Tokens.Text).text ?? token.raw, style) : richText(inner, style)
      }
    }
  })
}

/** Plain text as pieces that are short enough, never cut inside a character. */
export function textItems(text: string, { annotations, link }: Style = { annotations: {} }): RichText[] {
  const items: RichText[] = []
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + MAX_CONTENT)
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "")) end--
    items.push({
      type: "text",
      text: { content: text.slice(start, end), ...(link === undefined ? {} : { link: { url: link } }) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    })
    start = end
  }
  return items
}

function isLinkable(href: string): boolean {
  return href.length <= 2000 && URL.canParse(href) && /^(https?|mailto):$/.test(new URL(href).protocol)
}
