import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { chromium, type Browser, type Page } from "playwright-core"

/** The browser of this machine; undefined where there is none, and tests that need one say so. */
export const CHROMIUM = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== undefined && existsSync(path))

export const NO_CHROMIUM = "there is no Chromium on this machine: install it, or name it in CHROMIUM_PATH"

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM!, args: FLAGS, timeout: 120_000 })
}

/**
 * A page, and whatever it did that a page of ours may not do: requests to elsewhere, errors, breaches of its policy.
 */
export async function openPage(browser: Browser, size = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport: size, permissions: ["clipboard-read", "clipboard-write"] })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  const wrong: string[] = []
  let origin = ""
  page.on("request", (request) => {
    const url = new URL(request.url())
    if (url.protocol === "data:") return
    if (origin === "") origin = url.origin
    if (url.origin !== origin) wrong.push(`request to ${request.url()}`)
  })
  page.on("pageerror", (error) => void wrong.push(`error: ${String(error)}`))
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) wrong.push(`policy: ${message.text()}`)
  })
  return { page, wrong }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What the rules of accessibility find: the rule, and where. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    interface Result {
      violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
    }
    const { axe: rules } = globalThis as unknown as { axe: { run(): Promise<Result> } }
    const { violations: found } = await rules.run()
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 160)} (${failureSummary.slice(0, 160)})`),
    )
  })
}

/** Opens a pane of the console by its link. */
export function pane(page: Page, name: string): Promise<void> {
  return page.getByRole("navigation", { name: "Panes" }).getByRole("link", { name }).click()
}
