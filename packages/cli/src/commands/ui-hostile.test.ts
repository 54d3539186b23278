import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { pane, violations, type Page } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const HARM = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=2</script></script>\u001B[31mred\u202Etfel\u2066\u200B\u0007 javascript:alert(1)`
const TEN_MB = 10 * 1024 * 1024
/** What a stranger can put into a run: names, words and causes, but not how its events hang together. */
const WORDS = new Set([
  "task",
  "model",
  "name",
  "path",
  "output",
  "message",
  "because",
  "hint",
  "raw",
  "content",
  "text",
])
const PLAY = `steps:
  - reply: { text: I look., calls: [{ name: file_read, arguments: { path: a.txt } }] }
  - reply: { calls: [{ name: file_read, arguments: { path: nowhere.txt } }] }
  - reply: Done.
`

/** The same with harm in each word, and ten megabytes of it in one. */
function harmed(value: unknown, key = ""): unknown {
  if (typeof value === "string") return WORDS.has(key) ? `${HARM} ${value}` : value
  if (Array.isArray(value)) return value.map((each) => harmed(each, key))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, harmed(each, name)]))
}

interface Exported {
  run: { title: string }
  events: { digest: { type: string }; body?: string }[]
}

/** A run as nobody well-meaning sends one. */
async function hostileRun(): Promise<string> {
  const cwd = folderWith({ "a.txt": "one\n", "play.yaml": PLAY })
  await here(["run", "Look", "--screenplay", "play.yaml"], { cwd })
  const file = join(cwd, "run.json")
  await here(["runs", "export", "latest", "--to", file], { cwd })
  const run = JSON.parse(readFileSync(file, "utf8")) as Exported
  run.run = harmed(run.run) as Exported["run"]
  run.run.title = `${HARM} Look`
  let isFirst = true
  run.events = run.events.map(({ body = "{}", ...event }) => {
    const parsed = harmed(JSON.parse(body)) as { result?: { output: string } }
    if (parsed.result !== undefined && isFirst) {
      parsed.result.output = HARM.repeat(Math.ceil(TEN_MB / HARM.length))
      isFirst = false
    }
    return { ...event, body: JSON.stringify(parsed) }
  })
  writeFileSync(file, JSON.stringify(run))
  return file
}

/** That everything hostile in the page is text, and none of it such as alters how other text is read. */
async function expectHarmless(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => ({
    html: document.documentElement.outerHTML,
    made: document.querySelectorAll("body img[src=x], #root script, a[href^='javascript:']").length,
    owned: "owned" in globalThis,
    wide: document.documentElement.scrollWidth - innerWidth,
  }))
  expect(found.html, where).not.toMatch(/[\u0007\u001B\u200B\u202E\u2066]/)
  expect({ where, made: found.made, owned: found.owned, wide: found.wide }).toEqual({
    where,
    made: 0,
    owned: false,
    wide: 0,
  })
}

async function opened(cwd: string, args: readonly string[]) {
  const running = startHere(["ui", "--no-open", ...args], { cwd })
  const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
  const { page, wrong } = await openPage()
  await page.goto(url!)
  await page.getByText("Choose a tool").first().waitFor()
  const end = async (): Promise<void> => {
    await running.stop()
  }
  return { page, wrong, end }
}

describeInBrowser("what strangers write, in a browser", () => {
  test("names, results, errors and ten megabytes of a run from elsewhere are text, in each pane and in the file", async () => {
    const file = await hostileRun()
    const cwd = folderWith()
    const imported = await here(["runs", "import", file], { cwd })
    expect(imported).toMatchObject({ code: 0, stderr: "" })
    const { page, wrong, end } = await opened(cwd, [])
    await pane(page, "Runs")
    await page.getByRole("link", { name: /Look/ }).first().waitFor()
    await expectHarmless(page, "Runs")
    await page.getByRole("link", { name: /Look/ }).first().click()
    const lines = page.getByRole("region", { name: "Events" }).getByRole("button")
    await lines.filter({ hasText: "end" }).first().waitFor()
    await expectHarmless(page, "Run")
    const many = await lines.count()
    expect(many).toBeGreaterThan(7)
    for (let at = 0; at < many; at++) {
      await lines.nth(at).click()
      await page
        .getByRole("complementary", { name: "Detail" })
        .getByText("The event as it stands")
        .or(page.getByRole("region", { name: "Result of the call" }))
        .first()
        .waitFor()
      await expectHarmless(page, `line ${at}`)
    }
    // Of ten megabytes head and tail are in the page.
    await lines
      .filter({ hasText: "succeeded" })
      .or(page.getByRole("button", { name: /succeeded/ }))
      .first()
      .click()
    expect(await page.evaluate(() => document.documentElement.outerHTML.length)).toBeLessThan(2_000_000)
    await page.getByRole("link", { name: "Compare" }).click()
    await page.getByRole("combobox", { name: "Second run" }).waitFor()
    await expectHarmless(page, "Compare")
    await pane(page, "Charts")
    await page.getByRole("region", { name: "Tools" }).waitFor()
    await expectHarmless(page, "Charts")
    expect(wrong).toEqual([])
    await end()

    const { stdout } = await here(["runs", "export", "latest", "--html", "--to", "run.html"], { cwd })
    const sent = await openPage()
    await sent.page.goto(pathToFileURL(stdout.trim()).href)
    await sent.page.getByRole("button", { name: /succeeded/ }).click()
    await sent.page.getByRole("region", { name: "Result of the call" }).waitFor()
    await expectHarmless(sent.page, "the file")
    expect(await violations(sent.page)).toEqual([])
    expect(sent.wrong).toEqual([])
  }, 240_000)

  test("what is asked, queued, said and failed with harm in it is text, while it happens", async () => {
    const word = JSON.stringify(HARM)
    const cwd = folderWith({
      "a.txt": `${HARM}\n`,
      "play.yaml": `steps:
  - reply: { text: ${word}, calls: [{ name: file_replace, arguments: { path: a.txt, old_text: ${word}, new_text: x } }] }
  - reply: { text: ${word} }
    repeat: 9
`,
      "toolwright.yaml": "permissions:\n  ask: [file_replace]\n",
    })
    const { page, wrong, end } = await opened(cwd, ["--screenplay", "play.yaml"])
    await pane(page, "Runs")
    await page.getByRole("textbox", { name: "What it is to do" }).fill(HARM)
    await page.getByRole("button", { name: "Start" }).click()
    await page.getByRole("region", { name: "Approval of file_replace" }).waitFor()
    await expectHarmless(page, "a question")
    await page.getByRole("textbox", { name: /Note/ }).fill(HARM)
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByRole("button", { name: /end · completed/ }).waitFor()
    await expectHarmless(page, "its end")
    await pane(page, "Approvals")
    await page.getByText("denied").first().waitFor()
    await expectHarmless(page, "Approvals")
    await pane(page, "Chat")
    await page.getByRole("textbox", { name: "Message" }).fill(HARM)
    await page.keyboard.press("Enter")
    await page.getByText("How it came to this").first().waitFor()
    await expectHarmless(page, "Chat")
    await pane(page, "Agents")
    await page.getByRole("textbox", { name: "What assistant is to do" }).fill(HARM)
    await page.getByRole("region", { name: "assistant" }).getByRole("button", { name: "Queue as a task" }).click()
    const detail = page.getByRole("complementary", { name: "Task" })
    await detail.getByText("done", { exact: true }).waitFor()
    await expectHarmless(page, "Tasks")
    for (const name of ["Tools", "Connections", "Charts"]) {
      await pane(page, name)
      await expectHarmless(page, name)
    }
    expect(wrong).toEqual([])
    await end()
  }, 240_000)
})
