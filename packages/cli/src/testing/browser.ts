import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Browser, Driver, Page } from "./browser-driver.ts"

export type { Browser, Page } from "./browser-driver.ts"

const require = createRequire(import.meta.url)
const DRIVER = "playwright-core"

/** Whether the driver is here, which is installed apart. */
const drivable = canResolve(DRIVER)

/**
 * The browser of this machine; undefined where it cannot be driven, and tests that need one say so. The same browser
 * without windows takes less of a processor.
 */
export const CHROMIUM = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== undefined && drivable && existsSync(path))

export const NO_CHROMIUM = drivable
  ? "there is no Chromium on this machine: install it, or name it in CHROMIUM_PATH"
  : "the driver of the browser is not installed: npm run clients:install"

/**
 * Of several such lists a browser takes the last: what the driver switches off, so that pages are loaded as they are
 * told and nobody is asked over the network, is here once more.
 */
const OFF_WITH_THE_DRIVER = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
]

/**
 * What a window has ready for whoever types an address, two pages in a process of their own, and a process for the page
 * that is opened next: beside each page they took more than to open it.
 */
const OFF_FOR_NOBODY_IS_THERE = ["SpareRendererForSitePerProcess", "WebUIOmniboxAimPopup", "WebUIOmniboxPopup"]

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${[...OFF_WITH_THE_DRIVER, ...OFF_FOR_NOBODY_IS_THERE].join(",")}`,
]

export async function launch(): Promise<Browser> {
  const { chromium } = (await import(DRIVER)) as Driver
  return chromium.launch({ executablePath: CHROMIUM!, args: FLAGS, timeout: 120_000 })
}

/**
 * A page, and whatever it did that a page of ours may not do: requests to elsewhere, errors, breaches of its policy. It
 * is that of somebody who asked for less motion, since what moves is painted again and again.
 */
export async function openPage(browser: Browser, size = { width: 1280, height: 800 }) {
  const context = await browser.newContext({
    viewport: size,
    permissions: ["clipboard-read", "clipboard-write"],
    reducedMotion: "reduce",
  })
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

/** Closes what a test opened: a page whose server is gone goes on asking for it. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  for (const context of browser?.contexts() ?? []) await context.close()
}

/** Rules of accessibility whose answer depends on the scheme of colours: of the page no more than those differ. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"]

/** What the rules of accessibility find: the rule, and where. */
export async function violations(page: Page, only: readonly string[] = []): Promise<string[]> {
  // Half a megabyte, which a page keeps until another is loaded.
  if (!(await page.evaluate(() => "axe" in globalThis)))
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"))
  return page.evaluate(async (names) => {
    interface Result {
      violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
    }
    const { axe: rules } = globalThis as unknown as { axe: { run(options: object): Promise<Result> } }
    // All rules; what passes is not described, nor where each thing stands in selectors that nobody reads.
    const options = { resultTypes: ["violations"], selectors: false }
    const runOnly = { type: "rule", values: names }
    const { violations: found } = await rules.run(names.length === 0 ? options : { ...options, runOnly })
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 160)} (${failureSummary.slice(0, 160)})`),
    )
  }, only)
}

/** The same in light and in dark, without doing twice what is one in both. */
export async function violationsInBoth(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "dark" })
  const dark = await violations(page, OF_COLOURS)
  await page.emulateMedia({ colorScheme: "light" })
  return [...dark.map((one) => `in the dark, ${one}`), ...(await violations(page))]
}

/** Opens a pane of the console by its link. */
export function pane(page: Page, name: string): Promise<void> {
  return page.getByRole("navigation", { name: "Panes" }).getByRole("link", { name }).click()
}

function canResolve(name: string): boolean {
  try {
    return require.resolve(name) !== ""
  } catch {
    return false
  }
}
