import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { pane, violations, violationsInBoth, type Page } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

/** How long a page may take on a busy machine. */
const SOON = { timeout: 120_000 }

const EDITS = `steps:
  - reply: { calls: [{ name: file_replace, arguments: { path: a.txt, old_text: one, new_text: two } }], usage: { inputTokens: 900, outputTokens: 30 } }
  - reply: It says two now.
`
const TALKS = `steps:
  - reply: { text: I look., calls: [{ name: file_read, arguments: { path: a.txt } }] }
  - reply: { text: It says one <b>and</b> nothing else. }
  - reply: { text: "This takes a very long time, and is stopped.", chunks: char, delayMs: 60000 }
`

const said = (page: Page, text: string | RegExp) => page.getByText(text).first()

/** The console of a folder in a page that was opened with its one-time address. */
async function opened(files: Record<string, string>, size?: { width: number; height: number }) {
  const cwd = folderWith(files)
  const running = startHere(["ui", "--no-open", "--screenplay", "play.yaml"], { cwd })
  const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
  const { page, wrong } = await openPage(size)
  await page.goto(url!)
  await said(page, "Choose a tool").waitFor()
  const end = async (): Promise<void> => {
    await page.close()
    await running.stop()
  }
  return { cwd, page, wrong, end }
}

/** Asks the server with the token that the page has. */
const asked = (page: Page, path: string, body?: object) =>
  page.evaluate(
    async ([to, sent]) => {
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${sessionStorage.getItem("toolwright-token")}`,
      }
      const init = sent === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(sent) }
      return (await (await fetch(to as string, init)).json()) as Record<string, string>
    },
    [path, body] as const,
  )

describeInBrowser("the panes of the console in a browser", () => {
  test("a call that needs approval waits in its run, and goes on or not as somebody says there", async () => {
    const { page, wrong, end } = await opened({
      "a.txt": "one\n",
      "play.yaml": `${EDITS}${EDITS.replace("steps:\n", "").replace("two now", "one still")}`,
      "toolwright.yaml": "permissions:\n  ask: [file_replace]\n",
    })
    const start = async (task: string): Promise<void> => {
      await pane(page, "Runs")
      await page.getByRole("textbox", { name: "What it is to do" }).fill(task)
      await page.getByRole("button", { name: "Start" }).click()
      await page.getByRole("region", { name: "Approval of file_replace" }).waitFor()
    }
    await start("Make it two")
    expect(await page.getByRole("region", { name: "Arguments of file_replace" }).textContent()).toContain('"two"')
    await page.getByRole("link", { name: /1 waiting/ }).waitFor()
    await page.getByRole("button", { name: "Allow once" }).click()
    await page.getByRole("button", { name: /end · completed/ }).waitFor()
    await page.getByRole("button", { name: /succeeded file_replace/ }).waitFor()
    expect(await page.getByRole("button", { name: /^… ?file_replace/ }).count()).toBe(0)

    await start("Make it two once more")
    await pane(page, "Approvals")
    await page.getByRole("textbox", { name: /Note/ }).fill("leave it")
    await page.getByRole("button", { name: "Deny" }).click()
    await said(page, "“leave it”").waitFor()
    await page.getByRole("link", { name: "run", exact: true }).first().click()
    await page.getByRole("button", { name: /failed file_replace.*leave it/ }).waitFor()
    await page
      .getByRole("button", { name: /It says one still/ })
      .first()
      .waitFor()
    expect(wrong).toEqual([])
    await end()
  }, 120_000)

  test("tasks stand in a tree and a plan as a graph; one is cancelled with all that waits for it, and tried again", async () => {
    const { page, wrong, end } = await opened({ "play.yaml": "steps:\n  - reply: Done.\n    repeat: 9\n" })
    await pane(page, "Tasks")
    await said(page, "No task waits here").waitFor()
    const notBefore = new Date(Date.now() + 3_600_000).toISOString()
    const add = async (more: object): Promise<string> =>
      (await asked(page, "tasks", { agent: "assistant", plan: "the-plan", notBefore, ...more })).id!
    const first = await add({ input: "Lay the ground" })
    await add({ input: "Build on it", after: [first] })
    await add({ input: "A part of the ground", parent: first })
    await add({ input: "Apart from it" })
    await page.getByRole("button", { name: /Build on it/ }).click()
    await page.getByRole("link", { name: "the-plan" }).click()
    const graph = page.getByRole("group", { name: "The plan as a graph" })
    await expect.poll(() => graph.getByRole("button").count(), SOON).toBe(4)
    await expect.poll(() => graph.locator("path[marker-end]").count(), SOON).toBe(1)
    await graph.getByRole("button", { name: /queued.*Lay the ground/ }).click()
    const detail = page.getByRole("complementary", { name: "Task" })
    await detail.getByRole("button", { name: "Cancel" }).click()
    await graph.getByRole("button", { name: /cancelled.*Lay the ground/ }).waitFor()
    await graph.getByRole("button", { name: /blocked.*Build on it/ }).waitFor()
    await graph.getByRole("button", { name: /cancelled.*A part of the ground/ }).waitFor()
    await graph.getByRole("button", { name: /queued.*Apart from it/ }).waitFor()

    await page.getByRole("button", { name: "Cancel the plan" }).click()
    await expect.poll(() => graph.getByRole("button", { name: /cancelled/ }).count(), SOON).toBe(4)
    const { tasks } = (await asked(page, "tasks?plan=the-plan")) as unknown as { tasks: { state: string }[] }
    expect(tasks.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled", "cancelled"])
    expect(await page.getByRole("button", { name: "Cancel the plan" }).count()).toBe(0)

    // Last: it is done as soon as a worker sees it.
    await detail.getByRole("button", { name: "Try again" }).click()
    await graph.getByRole("button", { name: /(queued|running|done).*Lay the ground/ }).waitFor()

    await pane(page, "Agents")
    await page.getByRole("textbox", { name: "What assistant is to do" }).fill("Say that it is done")
    await page.getByRole("region", { name: "assistant" }).getByRole("button", { name: "Queue as a task" }).click()
    await detail.getByText("done", { exact: true }).waitFor()
    await detail.getByRole("link", { name: "Open its run" }).click()
    await page.getByRole("heading", { name: "Say that it is done" }).waitFor()
    expect(wrong).toEqual([])
    await end()
  }, 120_000)

  test("two runs stand side by side, call beside call, and lead to where they went apart", async () => {
    const { cwd, page, wrong, end } = await opened({ "a.txt": "one\n", "b.txt": "two\n", "play.yaml": EDITS })
    for (const path of ["a.txt", "b.txt"]) {
      const steps = `steps:\n  - reply: { calls: [{ name: echo, arguments: { message: hi } }] }
  - reply: { calls: [{ name: file_read, arguments: { path: ${path} } }] }\n  - reply: It is read.\n`
      writeFileSync(join(cwd, "read.yaml"), steps)
      await here(["run", `Read ${path}`, "--screenplay", "read.yaml"], { cwd })
    }
    await pane(page, "Runs")
    await page.getByRole("link", { name: /Read a\.txt/ }).click()
    await page.getByRole("link", { name: "Compare" }).click()
    const second = page.getByRole("combobox", { name: "Second run" })
    await expect.poll(() => second.getByRole("option", { name: /Read b\.txt/ }).count(), SOON).toBe(1)
    const option = await second.getByRole("option", { name: /Read b\.txt/ }).getAttribute("value")
    await second.selectOption(option!)
    await said(page, "1 of 2 places differ").waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole("checkbox", { name: "differences only" }).check()
    const places = page.getByRole("list", { name: "1 place" })
    expect(await places.textContent()).toMatch(/other arguments.*a\.txt.*b\.txt/s)
    await places.getByRole("link", { name: /b\.txt/ }).click()
    expect(await page.getByRole("region", { name: "Arguments of the call" }).textContent()).toContain("b.txt")
    expect(wrong).toEqual([])
    await end()
  }, 120_000)

  test("a conversation is answered with its calls in sight, kept, stopped and deleted", async () => {
    const { page, wrong, end } = await opened({ "a.txt": "one\n", "play.yaml": TALKS })
    await pane(page, "Chat")
    await page.getByRole("textbox", { name: "Message" }).fill("What does a.txt say?")
    await page.keyboard.press("Enter")
    await said(page, "It says one <b>and</b> nothing else.").waitFor()
    await page.getByText("file_read").click()
    expect(await page.getByRole("region", { name: "Result of file_read" }).textContent()).toContain("one")
    await said(page, "How it came to this").waitFor()

    await page.getByRole("textbox", { name: "Message" }).fill("Tell me more")
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByRole("button", { name: "Stop" }).click()
    await said(page, "You stopped it.").waitFor()

    await page.reload()
    await said(page, "It says one <b>and</b> nothing else.").waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    await said(page, "None yet.").waitFor()
    expect(wrong).toEqual([])
    await end()
  }, 120_000)

  test("nothing in any pane is out of reach, wide and narrow, light and dark", async () => {
    const { page, wrong, end } = await opened({
      "a.txt": "one\n",
      "play.yaml": EDITS,
      "toolwright.yaml": "permissions:\n  ask: [file_replace]\n",
    })
    await asked(page, "tools/echo", { message: "hello" })
    const notBefore = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await asked(page, "tasks", { input: "Later", plan: "p", notBefore })
    await asked(page, "tasks", { input: "Later still", plan: "p", after: [id] })
    await asked(page, "runs", { task: "Make it two" })
    await asked(page, "conversations", { title: "A conversation" })
    const shown: readonly [string, string | RegExp][] = [
      ["Approvals", "Allow once"],
      ["Tasks", "Later still"],
      ["Agents", "Start and watch"],
      ["Chat", "A conversation"],
      ["Connections", "a screenplay"],
      ["Evaluations", "No suite was tried here"],
      ["Charts", "Calls of tools"],
    ]
    const look = async (): Promise<void> => {
      for (const [name, text] of shown) {
        await pane(page, name)
        await said(page, text).waitFor({ state: "attached" })
        expect(await violationsInBoth(page), name).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBe(0)
      }
    }
    const held = Promise.withResolvers<void>()
    await page.route(/\/conversations\?/, async (route) => {
      await held.promise
      await route.continue()
    })
    await pane(page, "Chat")
    await said(page, "Asking for the conversations").waitFor()
    expect(await violationsInBoth(page), "a chat that waits").toEqual([])
    held.resolve()
    await look()
    await pane(page, "Tasks")
    await page.getByRole("button", { name: /Later still/ }).click()
    await page.getByRole("link", { name: "p", exact: true }).click()
    await page.getByRole("group", { name: "The plan as a graph" }).waitFor()
    expect(await violationsInBoth(page), "a plan").toEqual([])
    await pane(page, "Runs")
    await page.getByRole("link", { name: /Make it two/ }).click()
    await page.getByRole("button", { name: "Allow once" }).waitFor()
    expect(await violationsInBoth(page), "a run that asks").toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    await look()
    expect(wrong).toEqual([])
    await end()
  }, 180_000)
})
