import { createHash } from "node:crypto"
import type { ConsoleFiles } from "./files.ts"

/** Where the run stands in the file. */
const OPEN = '<script id="run" type="application/json">'
const CLOSE = "</script>"

/**
 * A run as one file: the page that reads it, with the run in it as data. It opens without a server, asks nothing of
 * anybody, and can run nothing but its own script.
 *
 * @param run what `runInPage` gives back
 */
export async function runAsPage(files: Pick<ConsoleFiles, "viewer">, title: string, run: object): Promise<string> {
  const { script, style } = await files.viewer()
  // What closes an element in a text would close it here too.
  const code = script.replaceAll(/<(?=\/script|!--)/gi, String.raw`\x3C`)
  const policy = `default-src 'none'; script-src '${hashOf(code)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`
  const data = JSON.stringify(run).replaceAll(UNSEEN, spelled)
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="content-security-policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(title.replaceAll(HIDDEN, "\uFFFD"))}</title>`,
    `<style>${style}</style>`,
    '<div id="root"></div>',
    `${OPEN}${data}${CLOSE}`,
    `<script>${code}</script>`,
    "</html>",
    "",
  ].join("\n")
}

/** The run that lies in such a file, as it was put there; undefined where there is none. */
export function runInPage(text: string): unknown {
  const from = text.indexOf(OPEN)
  const to = text.indexOf(CLOSE, from)
  if (from < 0 || to < 0) return undefined
  try {
    return JSON.parse(text.slice(from + OPEN.length, to)) as unknown
  } catch {
    return undefined
  }
}

/** What alters how a text is read, in a title bar and to whoever looks at the file; and what could begin an element. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const UNSEEN = /[<\p{Cf}\p{Zl}\p{Zp}]/gu

/** As JSON spells what it need not show. */
const spelled = (character: string): string =>
  character
    .split("")
    .map((unit) => String.raw`\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`)
    .join("")

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
