import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { pane, violations, type Page } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

/** How long a page may take on a busy machine. */
const SOON = { timeout: 120_000 }

/** The console of a folder, opened with its one-time address. */
async function opened(files: Record<string, string>, args = ["--screenplay", "play.yaml"]) {
  const cwd = folderWith(files)
  const running = startHere(["ui", "--no-open", ...args], { cwd, env: { TOOLWRIGHT_TRUST: "1" } })
  const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
  const { page, wrong } = await openPage()
  page.setDefaultTimeout(60_000)
  await page.goto(url!)
  await page.getByText("Choose a tool").first().waitFor()
  const end = async (): Promise<void> => {
    await page.close()
    await running.stop()
  }
  return { cwd, page, wrong, end }
}

async function start(page: Page, task: string, agent?: string): Promise<void> {
  await pane(page, "Runs")
  if (agent !== undefined) await page.getByRole("combobox", { name: "Agent" }).selectOption(agent)
  await page.getByRole("textbox", { name: "What it is to do" }).fill(task)
  await page.getByRole("button", { name: "Start" }).click()
}

const SHOP = {
  "package.json": `{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n`,
  "price.js": "export const priceOf = (cents, share = 0) => Math.round(cents * (1 + share))\n",
  "price.test.js": `import assert from "node:assert/strict"
import { test } from "node:test"
import { priceOf } from "./price.js"

test("a discount makes it cheaper", () => assert.equal(priceOf(1000, 0.1), 900))
`,
}

const FAILS = `steps:
  - reply: { text: I run the tests., calls: [{ name: test, arguments: {} }] }
  - reply: { calls: [{ name: file_read, arguments: { path: prices.js } }] }
  - reply: I could not find the file.
`

const ASKS = `steps:
  - reply: { calls: [{ name: ask_helper, arguments: { task: Make it two } }] }
  - reply: { calls: [{ name: file_replace, arguments: { path: a.txt, old_text: one, new_text: two } }] }
  - reply: The helper has made it two.
  - reply: It is two.
`
const ASKING = `permissions:
  ask: [file_replace]
agents:
  define:
    helper: { from: assistant, description: Helps }
    asker: { from: assistant, description: Asks the helper, tools: { agents: [helper] } }
`

const PHASES = `steps:
  - reply: { calls: [{ name: file_read, arguments: { path: a.txt } }] }
  - reply: { calls: [{ name: hand_over, arguments: { cause: it says one, files: [a.txt] } }] }
  - reply: It should say two.
`
const PHASED = `agents:
  define:
    careful:
      from: assistant
      description: Looks, then answers
      phases:
        - name: look
          rounds: 5
          handsOver:
            artifact: finding
            schema:
              type: object
              properties: { cause: { type: string }, files: { type: array, items: { type: string } } }
              required: [cause]
        - name: answer
          rounds: 5
`

describeInBrowser("ways through the console in a browser", () => {
  test("a newcomer finds the tool that runs tests, watches an agent, mends one argument of the call that failed, and sends the run to somebody", async () => {
    const { cwd, page, wrong, end } = await opened({ ...SHOP, "play.yaml": FAILS })
    await page.getByRole("searchbox", { name: "Filter tools" }).fill("run tests")
    await page.getByRole("button", { name: /^test/ }).first().click()
    await page.getByRole("button", { name: "Call", exact: true }).click()
    await page.getByRole("region", { name: "Result" }).getByText("failed").first().waitFor()
    await expect
      .poll(() => page.getByRole("region", { name: "Result" }).textContent(), SOON)
      .toContain("a discount makes it cheaper")

    await start(page, "A test fails. Why?")
    await page.getByRole("button", { name: /end · / }).waitFor()
    await page.keyboard.press("f")
    await page.getByRole("button", { name: /failed file_read/ }).click()
    await page.getByRole("region", { name: "Result of the call" }).getByText("prices.js").first().waitFor()
    await page.getByRole("button", { name: "Edit and run" }).click()
    await page.getByLabel("path").fill("price.js")
    await page.getByText("The arguments fit.").waitFor()
    await page.getByRole("button", { name: "Call", exact: true }).click()
    await expect
      .poll(() => page.getByRole("region", { name: "What a model is shown" }).textContent(), SOON)
      .toContain("1 + share")

    await pane(page, "Runs")
    await page.getByRole("link", { name: /A test fails/ }).click()
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as file" }).click(),
    ])
    const file = join(cwd, download.suggestedFilename())
    await download.saveAs(file)
    expect(file).toMatch(/\.html$/)

    const alone = await openPage()
    await alone.page.goto(pathToFileURL(file).href)
    await alone.page.getByRole("heading", { name: "A test fails. Why?" }).waitFor()
    await alone.page.getByRole("button", { name: /failed file_read/ }).click()
    await alone.page.getByRole("region", { name: "Arguments of the call" }).getByText("prices.js").waitFor()
    expect(await alone.page.getByRole("button", { name: "Save as file" }).count()).toBe(0)

    const colleague = await opened({}, [])
    await pane(colleague.page, "Runs")
    await colleague.page.getByLabel("A run as a file").setInputFiles(file)
    await colleague.page.getByRole("heading", { name: "A test fails. Why?" }).waitFor()
    await colleague.page.getByRole("button", { name: /failed file_read/ }).waitFor()
    await pane(colleague.page, "Runs")
    await colleague.page.getByRole("link", { name: /A test fails/ }).waitFor()
    await colleague.page.getByLabel("A run as a file").setInputFiles(file)
    await colleague.page.getByText("is here already").waitFor()
    await colleague.page.getByLabel("A run as a file").setInputFiles({
      name: "other.html",
      mimeType: "text/html",
      buffer: Buffer.from("<!doctype html>nothing"),
    })
    await colleague.page.getByText("There is no run in this file").waitFor()
    expect([...wrong, ...alone.wrong, ...colleague.wrong]).toEqual([])
    await colleague.end()
    await end()
  }, 240_000)

  test("a call that has to be permitted is permitted or not where it is made, and the record says by whom", async () => {
    const { cwd, page, wrong, end } = await opened({
      "a.txt": "one\n",
      "toolwright.yaml": "permissions:\n  ask: [file_replace]\n",
      "play.yaml": "steps:\n  - reply: Done.\n",
    })
    await page.getByRole("searchbox", { name: "Filter tools" }).fill("file_replace")
    await page.getByRole("button", { name: /^file_replace/ }).click()
    for (const [label, value] of [
      ["path", "a.txt"],
      ["old_text", "one"],
      ["new_text", "two"],
    ] as const)
      await page.getByLabel(new RegExp(`^${label}`)).fill(value)
    await page.getByText("You are asked before it runs: the rule for 'file_replace'.").waitFor()
    const call = page.getByRole("button", { name: "Call", exact: true })
    const question = page.getByRole("region", { name: "Approval of file_replace" })
    await call.click()
    await question.waitFor()
    expect(await violations(page)).toEqual([])
    expect(await question.textContent()).toContain('"two"')
    await question.getByRole("button", { name: "Deny" }).click()
    await question.waitFor({ state: "detached" })
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n")
    await call.click()
    await question.getByRole("button", { name: "Allow once" }).click()
    await page.getByRole("region", { name: "Result" }).getByText("succeeded").waitFor()
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n")
    await page.getByRole("region", { name: "Calls on record" }).getByRole("link").first().click()
    await page.getByRole("button", { name: /succeeded file_replace/ }).click()
    await expect.poll(() => page.getByLabel("How it came to run").textContent(), SOON).toContain("ask, approved")
    await page.getByRole("button", { name: "Undo…" }).click()
    await page.getByRole("button", { name: "Take back" }).click()
    await page.getByText("1 file taken back").waitFor()
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n")
    await page.getByRole("link", { name: /taken back by you/ }).click()
    await page.getByRole("button", { name: /takes back what .* changed, for you/ }).waitFor()
    expect(wrong).toEqual([])
    await end()
  }, 180_000)

  test("a run that an agent was asked for stands below the one that asked, its question too, and one answer lets both go on", async () => {
    const { cwd, page, wrong, end } = await opened({ "a.txt": "one\n", "toolwright.yaml": ASKING, "play.yaml": ASKS })
    await start(page, "Have it made two", "asker")
    const tree = page.getByRole("list", { name: "Runs that its calls asked for", exact: true })
    await tree.getByRole("link", { name: /helper.*Make it two/ }).waitFor()
    await page.getByRole("region", { name: "Approval of file_replace" }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole("button", { name: "Allow once" }).click()
    await page.getByRole("button", { name: /end · completed/ }).waitFor()
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n")
    await tree.getByText("completed").waitFor()
    await page.getByRole("button", { name: /succeeded ask_helper.*helper: completed/ }).click()
    await page
      .getByRole("region", { name: "What it asked for" })
      .getByRole("link", { name: /helper/ })
      .click()
    await page.getByRole("heading", { name: "Make it two" }).waitFor()
    await page.getByRole("button", { name: /^task/ }).click()
    await expect.poll(() => page.getByRole("region", { name: "Task" }).textContent(), SOON).toBe("Make it two")
    await page.getByRole("button", { name: /succeeded file_replace/ }).click()
    await expect.poll(() => page.getByLabel("How it came to run").textContent(), SOON).toContain("allowed by you")
    await page.getByRole("link", { name: /asked for by/ }).click()
    await page.getByRole("heading", { name: "Have it made two" }).waitFor()
    // What was looked at of one run is not taken for another's, though their events have the same numbers.
    await page.getByRole("button", { name: /^end · / }).click()
    await expect.poll(() => page.getByRole("region", { name: "Answer" }).textContent(), SOON).toBe("It is two.")
    await page.getByRole("button", { name: /^task/ }).click()
    await expect.poll(() => page.getByRole("region", { name: "Task" }).textContent(), SOON).toBe("Have it made two")

    await pane(page, "Runs")
    await page.getByRole("button", { name: /1 below/ }).click()
    await page
      .getByRole("list", { name: /Below Have it made two/ })
      .getByRole("link", { name: /Make it two/ })
      .waitFor()
    expect(await violations(page)).toEqual([])

    const { stdout } = await here(["runs", "export", "latest", "--html", "--to", "run.html"], { cwd })
    const file = await openPage()
    await file.page.goto(pathToFileURL(stdout.trim()).href)
    await file.page
      .getByRole("list", { name: "Runs that its calls asked for", exact: true })
      .getByRole("button", { name: /helper/ })
      .click()
    await file.page.getByRole("heading", { name: "Make it two" }).waitFor()
    await file.page.getByRole("button", { name: /succeeded file_replace/ }).waitFor()
    expect(await violations(file.page)).toEqual([])
    await file.page.getByRole("button", { name: /Whoever asked for it/ }).click()
    await file.page.getByRole("heading", { name: "Have it made two" }).waitFor()
    expect([...wrong, ...file.wrong]).toEqual([])
    await end()
  }, 240_000)

  test("phases and what they hand over are told as that, and charts say it by tool and by model", async () => {
    const { page, wrong, end } = await opened({ "a.txt": "one\n", "toolwright.yaml": PHASED, "play.yaml": PHASES })
    await start(page, "What should a.txt say?", "careful")
    await page.getByRole("button", { name: /end · completed/ }).waitFor()
    await page.getByRole("button", { name: /^Phase look.*1 of 2/ }).waitFor()
    await page.getByRole("button", { name: /^Phase answer.*2 of 2/ }).waitFor()
    await page.getByRole("button", { name: /^phase over: look · handed over finding/ }).click()
    const handed = page.getByRole("region", { name: "Handed over: finding" }).first()
    await expect.poll(() => handed.textContent(), SOON).toContain("it says one")
    expect(await violations(page)).toEqual([])

    await pane(page, "Charts")
    const chosen = page.getByRole("combobox", { name: "What of tools over time" })
    await chosen.selectOption("ms95")
    await expect
      .poll(() => page.getByRole("table", { name: "Tools over time" }).textContent(), SOON)
      .toContain("file_read")
    await page.getByRole("combobox", { name: "What of models over time" }).selectOption("inputTokens")
    expect(await violations(page)).toEqual([])
    expect(wrong).toEqual([])
    await end()
  }, 180_000)

  test("all of it goes by keys alone: to a run, to the call that failed, to its form, and back", async () => {
    const { cwd, page, wrong, end } = await opened({ ...SHOP, "play.yaml": FAILS })
    await here(["run", "A test fails. Why?", "--screenplay", "play.yaml"], { cwd })
    const keys = async (...names: string[]): Promise<void> => {
      for (const name of names) await page.keyboard.press(name)
    }
    const goTo = async (where: string): Promise<void> => {
      await keys("Control+k")
      await page.getByRole("combobox", { name: "Tool, run or pane" }).waitFor()
      await page.keyboard.type(where)
      await page
        .getByRole("option", { name: new RegExp(`^${where}`) })
        .first()
        .waitFor()
      await keys("Enter")
    }
    await goTo("Runs")
    await page.getByRole("link", { name: /A test fails/ }).waitFor()
    await keys("j", "Enter")
    await page.getByRole("button", { name: /failed file_read/ }).waitFor()
    await keys("f")
    await page
      .getByRole("button", { name: /^Round/ })
      .first()
      .waitFor({ state: "detached" })
    await keys("j", "j")
    await page.getByRole("region", { name: "Arguments of the call" }).getByText("prices.js").waitFor()
    await keys("r")
    await page.getByRole("heading", { name: /^file_read/ }).waitFor()
    expect(await page.getByLabel("path").inputValue()).toBe("prices.js")
    await page.getByText("The arguments fit.").waitFor()
    await keys("Control+Enter")
    await page.getByRole("region", { name: "Result" }).getByText("NOT_FOUND").waitFor()
    await keys("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
    expect(await violations(page)).toEqual([])
    await keys("Escape")
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" })
    await goTo("Approvals")
    await page.getByText("Nothing waits for you").waitFor()
    expect(wrong).toEqual([])
    await end()
  }, 180_000)
})
