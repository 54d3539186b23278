import { createHash } from "node:crypto"
import type { ConsoleFiles } from "./files.ts"
import { CLOSE, OPEN } from "./in-page.ts"

/** What is looked at of a run here; the rest is passed on. */
interface Shown {
  run: { title: string; agent: string }
}

/**
 * A run as one file: the page that reads it, with the run in it as data. It opens without a server, asks nothing of
 * anybody, and can run nothing but its own script.
 *
 * @param run what `runInPage` gives back
 */
export async function runAsPage(files: Pick<ConsoleFiles, "viewer">, run: Shown): Promise<string> {
  const title = `${run.run.title}: a run of ${run.run.agent || "a tool"}`
  const { script, style } = await files.viewer()
  // What closes an element in a text would close it here too.
  const code = script.replaceAll(/<(?=\/script|!--)/gi, String.raw`\x3C`)
  const policy =
    `default-src 'none'; script-src '${hashOf(code)}'; style-src '${hashOf(style)}'; base-uri 'none'; ` +
    "form-action 'none'"
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
