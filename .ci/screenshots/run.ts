/**
 * Takes the pictures of the documentation from the real console with real runs: `npm run screenshots`. It needs
 * Chromium; the pictures are WebP, since Chromium writes that by itself.
 */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CHROMIUM, launch, NO_CHROMIUM } from "../../packages/cli/src/testing/browser.ts"
import { makeScene, PLAN } from "./scene.ts"

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof launch>>["newPage"]>>

const ROOT = join(import.meta.dirname, "../..")
const TARGET = process.argv[2] ?? join(ROOT, "docs/images")
/** Those that are looked at by programs that know no WebP: `npm run screenshots -- /tmp/shots png`. */
const FORMAT = process.argv[3] === "png" ? "png" : "webp"
const QUALITY = FORMAT === "webp" ? { quality: 82 } : {}
const SIZE = { width: 1280, height: 760 }

if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM)
mkdirSync(TARGET, { recursive: true })
const cwd = makeScene()
const { url, stop } = await console_(cwd, ["--screenplay", "../play.json"])
const pocket = await console_(cwd, ["--backend", "pocket", "--record-tokens"])
const browser = await launch()
try {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: "light", deviceScaleFactor: 1.5 })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(url)
  await pictures(page).catch(async (thrown: unknown) => {
    await shot(page, "failed")
    throw thrown
  })
  const other = await browser.newContext({ viewport: SIZE, colorScheme: "light", deviceScaleFactor: 1.5 })
  await tokens(await other.newPage(), pocket.url)
} finally {
  await browser.close()
  stop()
  pocket.stop()
}

/** Starts the console of a folder, and waits for its address. */
async function console_(folder: string, model: readonly string[]): Promise<{ url: string; stop: () => void }> {
  const bin = join(ROOT, "packages/cli/bin/toolwright.js")
  const child = spawn(process.execPath, [bin, "ui", "--no-open", ...model], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    // The agents of the scene's folder are ours.
    env: { ...process.env, TOOLWRIGHT_TRUST: "1" },
  })
  let text = ""
  for await (const piece of child.stdout) {
    text += String(piece)
    const found = /http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/.exec(text)
    if (found !== null) return { url: found[0], stop: () => void child.kill("SIGINT") }
  }
  throw new Error(`The console did not start: ${text}`)
}

async function pictures(page: Page): Promise<void> {
  await tools(page)
  await run(page)
  await chat(page)
  await nested(page)
  await tasks(page)
  await rest(page)
}

async function tools(page: Page): Promise<void> {
  await page.getByRole("searchbox", { name: "Filter tools" }).fill("test")
  await page.getByRole("button", { name: /^test/ }).click()
  await page.getByRole("button", { name: "Call", exact: true }).click()
  await page.getByRole("region", { name: "Result" }).waitFor()
  await shot(page, "tools")
}

async function run(page: Page): Promise<void> {
  await pane(page, "Runs")
  await page.getByRole("textbox", { name: "What it is to do" }).fill("A test fails. Find out why, and mend it.")
  await page.getByRole("button", { name: "Start" }).click()
  await page.getByRole("button", { name: "Allow once" }).waitFor()
  await shot(page, "approval")
  await page.getByRole("button", { name: "Allow once" }).click()
  await page.getByRole("button", { name: /end · completed/ }).waitFor()
  await page
    .getByRole("button", { name: /succeeded file_replace/ })
    .first()
    .click()
  await page.getByRole("region", { name: /Output/ }).waitFor()
  await shot(page, "run")
  await page.emulateMedia({ colorScheme: "dark" })
  await shot(page, "run-dark")
  await page.emulateMedia({ colorScheme: "light" })
}

/** How the pocket model came to a call. */
async function tokens(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await pane(page, "Runs")
  await page.getByRole("textbox", { name: "What it is to do" }).fill("show me the first 3 lines of package.json")
  await page.getByRole("button", { name: "Start" }).click()
  await page.getByRole("button", { name: /end · / }).waitFor()
  await page
    .getByRole("button", { name: /^reply · / })
    .nth(1)
    .click()
  const text = page.getByRole("listbox", { name: "Tokens of the reply" })
  await text.focus()
  await page.keyboard.press("Home")
  await page.getByText("removed").first().waitFor()
  await shot(page, "tokens")
}

async function chat(page: Page): Promise<void> {
  await pane(page, "Chat")
  await page.getByRole("textbox", { name: "Message" }).fill("What does priceOf do?")
  await page.getByRole("button", { name: "Send" }).click()
  await page.getByText("How it came to this").waitFor()
  await shot(page, "chat")
}

/** A run whose calls asked other agents. */
async function nested(page: Page): Promise<void> {
  await pane(page, "Runs")
  await page.getByRole("combobox", { name: "Agent" }).selectOption("lead")
  await page.getByRole("textbox", { name: "What it is to do" }).fill("Is every price rounded once?")
  await page.getByRole("button", { name: "Start" }).click()
  await page.getByRole("button", { name: /end · completed/ }).waitFor()
  await page.getByRole("button", { name: /ask_reviewer_of_prices/ }).click()
  await page.getByRole("region", { name: "What it asked for" }).waitFor()
  await shot(page, "nested")
}

async function tasks(page: Page): Promise<void> {
  await page.evaluate(addPlan, PLAN)
  await pane(page, "Tasks")
  await page
    .getByRole("button", { name: /Review all of it/ })
    .first()
    .click()
  await page.getByRole("link", { name: "shop-1" }).click()
  await page.getByRole("group", { name: "The plan as a graph" }).waitFor()
  await shot(page, "plan")
}

/** In the page: queues the tasks of a plan, with the token that the page has. */
async function addPlan(plan: typeof PLAN): Promise<void> {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${sessionStorage.getItem("toolwright-token")}`,
  }
  const ids = new Map<string, string>()
  const later = new Date(Date.now() + 3_600_000).toISOString()
  for (const { name, input, after } of plan) {
    const body = {
      agent: "builder",
      input,
      plan: "shop-1",
      after: after.map((each) => ids.get(each)!),
      notBefore: later,
    }
    const answer = await fetch("tasks", { method: "POST", headers, body: JSON.stringify(body) })
    ids.set(name, ((await answer.json()) as { id: string }).id)
  }
}

async function rest(page: Page): Promise<void> {
  await pane(page, "Charts")
  await page.getByText("How long runs take").first().waitFor()
  await page.waitForLoadState("networkidle")
  await page.getByRole("combobox", { name: "What of models over time" }).selectOption("outputTokens")
  await page.getByText("Formats that calls were read in").first().scrollIntoViewIfNeeded()
  await shot(page, "charts")
  await pane(page, "Runs")
  await page.getByRole("link", { name: /A test fails/ }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: "dark" })
  await shot(page, "narrow")
}

async function pane(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Panes" }).getByRole("link", { name }).click()
}

/** A picture of what is seen, as small as it stays readable. */
async function shot(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: FORMAT, ...QUALITY })
  await session.detach()
  const bytes = Buffer.from(data, "base64")
  writeFileSync(join(TARGET, `console-${name}.${FORMAT}`), bytes)
  console.log(`${name}: ${Math.round(bytes.length / 1024)} KB`)
}
