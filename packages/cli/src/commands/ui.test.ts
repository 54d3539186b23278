import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { violations, violationsInBoth, type Page } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const SCREENPLAY = `steps:
  - reply: { calls: [{ name: file_read, arguments: { path: a.txt } }] }
  - reply: { calls: [{ name: file_read, arguments: { path: nowhere.txt } }], delayMs: 300 }
  - reply: It says one.
  - reply: The branch says one, too.
`
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u001B[31mred\u202Etfel\u0007 end`

/** How long a page may take on a busy machine. */
const SOON = { timeout: 120_000 }

const said = (page: Page, text: string | RegExp) => page.getByText(text).first()

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+(\/#code=[\w-]+)?/

/** A server that is to go away, and to come back: a process of its own. */
async function started(args: string[], cwd: string) {
  const running = startCli(args, { cwd })
  const [url] = await running.until(ADDRESS)
  return { ...running, url: url! }
}

/** The console of a folder, which stays. */
async function served(args: string[], cwd: string) {
  const running = startHere(["ui", "--no-open", ...args], { cwd })
  const [url] = await running.until(ADDRESS)
  return { ...running, url: url! }
}

describeInBrowser("the console in a browser", () => {
  test("a tool is called by form and by JSON, the text is sent as it was written, and the call is on record", async () => {
    const cwd = folderWith({ "a.txt": "one\n", "hostile.txt": HOSTILE })
    const { url, child, finished } = await started(["ui", "--no-open"], cwd)
    const { page, wrong } = await openPage()
    await page.goto(url)
    await page.getByRole("searchbox", { name: "Filter tools" }).fill("read_text_file")
    await page.getByRole("button", { name: /^read_text_file/ }).click()
    expect(page.url()).not.toContain("code=")
    await page.getByLabel("path").fill("a.txt")
    await said(page, "The arguments fit.").waitFor()
    await page.getByRole("button", { name: "Call", exact: true }).click()
    const result = page.getByRole("region", { name: "What a model is shown" })
    await expect.poll(() => result.textContent(), SOON).toBe("one\n")

    await page.getByRole("tab", { name: "JSON" }).click()
    const pasted = '{ "path":"hostile.txt",\n\n   "head": 1.0 }'
    const editor = page.getByRole("textbox", { name: "Arguments of read_text_file" })
    // The editor is loaded when it is first opened.
    await page.locator(".cm-content").waitFor()
    await editor.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.insertText(pasted)
    const sent = page.waitForRequest((request) => request.url().endsWith("/tools/read_text_file"))
    await page.getByRole("button", { name: "Call", exact: true }).click()
    expect((await sent).postData()).toBe(pasted)
    await expect.poll(() => result.textContent(), SOON).toContain('<img src=x onerror="alert(1)">')
    expect(await result.textContent()).not.toMatch(/[\u0007\u001B\u202E]/)
    await page.getByRole("tab", { name: "Form" }).click()
    await said(page, /Only the JSON shows these arguments as they are: the number 1.0/).waitFor()

    await said(page, "On record").waitFor()
    await page.getByRole("link", { name: "Runs" }).click()
    await page.getByRole("checkbox", { name: "single calls too" }).check()
    await page
      .getByRole("link", { name: /read_text_file/ })
      .first()
      .click()
    await page.getByRole("button", { name: /hostile\.txt/ }).click()
    expect(await page.getByRole("region", { name: "Arguments of the call" }).textContent()).toContain('"head": 1')
    expect(wrong).toEqual([])
    child.kill("SIGINT")
    expect((await finished).code).toBe(130)
  })

  test("an agent is asked and watched to its end, its call is changed and made again, and it goes on from a round as a branch", async () => {
    const cwd = folderWith({ "a.txt": "one\n", "play.yaml": SCREENPLAY })
    const { url, stop } = await served(["--screenplay", "play.yaml"], cwd)
    const { page, wrong } = await openPage()
    await page.goto(url)
    await page.getByRole("link", { name: "Runs" }).click()
    await page.getByRole("textbox", { name: "What it is to do" }).fill("What does a.txt say?")
    await page.getByRole("button", { name: "Start" }).click()
    await page.getByRole("heading", { name: "What does a.txt say?" }).waitFor()
    await page.getByRole("button", { name: /succeeded file_read/ }).waitFor()
    await page.getByRole("button", { name: /end · completed/ }).waitFor()
    await page.getByRole("checkbox", { name: "failed only" }).check()
    await page.getByRole("button", { name: /failed file_read.*nowhere/ }).click()
    await page.getByRole("button", { name: "Edit and run" }).click()
    await page.getByLabel("path").fill("a.txt")
    await page.getByRole("button", { name: "Call", exact: true }).click()
    const result = page.getByRole("region", { name: "What a model is shown" })
    await expect.poll(() => result.textContent(), SOON).toContain("one")

    await page.goBack()
    await page.getByRole("button", { name: /succeeded file_read/ }).click()
    const before = page.url()
    await page
      .getByRole("button", { name: /^reply · 1 call/ })
      .nth(1)
      .click()
    await page.getByRole("button", { name: "Branch here" }).click()
    await page.waitForURL((now) => now.href !== before)
    await page.getByRole("link", { name: /^branch of/ }).waitFor()
    await page
      .getByRole("button", { name: /The branch says one, too/ })
      .first()
      .waitFor()
    expect(wrong).toEqual([])
    await stop()
  })

  test("a run is sent as one file, opens without a server, and is taken back", async () => {
    const cwd = folderWith({ "a.txt": HOSTILE, "play.yaml": SCREENPLAY })
    await here(["run", "What does </script> say?", "--screenplay", "play.yaml"], { cwd })
    const { stdout } = await here(["runs", "export", "latest", "--html", "--to", "run.html"], { cwd })
    const { page, wrong } = await openPage()
    await page.goto(pathToFileURL(stdout.trim()).href)
    await page.getByRole("heading", { name: "What does </script> say?" }).waitFor()
    await page.getByRole("button", { name: /succeeded file_read/ }).click()
    await expect
      .poll(() => page.getByRole("region", { name: "Output" }).textContent(), SOON)
      .toContain("<script>alert(2)")
    expect(await violations(page)).toEqual([])
    expect(wrong).toEqual([])

    const elsewhere = folderWith()
    const imported = await here(["runs", "import", join(cwd, "run.html")], { cwd: elsewhere })
    expect(imported.stderr).toBe("")
    const events = async (folder: string) =>
      (await here(["runs", "show", "latest", "--json"], { cwd: folder })).stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown)
    expect(await events(elsewhere)).toEqual(await events(cwd))
    expect((await here(["audit", "verify"], { cwd: elsewhere })).code).toBe(0)
    expect(await here(["runs", "import", join(cwd, "run.html")], { cwd: elsewhere })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is here already"),
    })
    writeFileSync(join(elsewhere, "not.html"), "<!doctype html>")
    expect((await here(["runs", "import", "not.html"], { cwd: elsewhere })).stderr).toContain("holds no exported run")
  })

  test("a wrong token is asked for again, and a server that was away is there again without a reload", async () => {
    const cwd = folderWith({ "a.txt": "one\n" })
    const serve = (port: string) => started(["serve", "--port", port, "--quiet", "--token", "long-enough"], cwd)
    const first = await serve("0")
    const { page } = await openPage()
    await page.goto(first.url)
    await page.getByLabel("Token").fill("not-this-one")
    await page.getByRole("button", { name: "Open" }).click()
    await said(page, /does not know this token/).waitFor()
    await page.getByLabel("Token").fill("long-enough")
    await page.getByRole("button", { name: "Open" }).click()
    await page.getByRole("link", { name: "Runs" }).click()
    await said(page, "Nothing has run here yet").waitFor()
    await page.evaluate(() => void Object.assign(globalThis, { stillHere: true }))
    first.child.kill("SIGINT")
    await first.finished
    const second = await serve(new URL(first.url).port)
    await fetch(`${second.url}/tools/echo`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer long-enough" },
      body: '{"message":"hello"}',
    })
    await page.getByRole("checkbox", { name: "single calls too" }).check()
    await page.getByRole("link", { name: /echo/ }).waitFor()
    expect(await page.evaluate(() => "stillHere" in globalThis)).toBe(true)
    second.child.kill("SIGINT")
    await second.finished
  })

  test("a token that ends while the page is open is asked for where somebody is, and nothing typed is lost", async () => {
    const cwd = folderWith({ "play.yaml": "steps:\n  - reply: Done.\n" })
    await here(["run", "Say it", "--screenplay", "play.yaml"], { cwd })
    const serve = (port: string, token: string) => started(["serve", "--port", port, "--quiet", "--token", token], cwd)
    const first = await serve("0", "long-enough")
    const { page, wrong } = await openPage()
    const open = async (token: string): Promise<void> => {
      await page.getByLabel("Token").fill(token)
      await page.getByRole("button", { name: "Open" }).click()
    }
    await page.goto(first.url)
    await open("long-enough")
    await page.getByRole("button", { name: /^echo/ }).click()
    await page.getByLabel("message").fill("typed before")
    await said(page, "The arguments fit.").waitFor()
    first.child.kill("SIGINT")
    await first.finished
    const second = await serve(new URL(first.url).port, "another-one")
    // The page may be told so before somebody clicks: it asks by itself for what it shows.
    const asked = said(page, "This server asks for a token")
    const orAsked = (click: Promise<void>): Promise<void> => Promise.race([click.catch(() => {}), asked.waitFor()])
    await orAsked(page.getByRole("button", { name: "Call", exact: true }).click())
    await asked.waitFor()
    expect(await violations(page)).toEqual([])
    await open("another-one")
    expect(await page.getByLabel("message").inputValue()).toBe("typed before")
    await page.getByRole("button", { name: "Call", exact: true }).click()
    const result = page.getByRole("region", { name: "What a model is shown" })
    await expect.poll(() => result.textContent(), SOON).toContain('"typed before"')
    await page.getByRole("link", { name: "Runs" }).click()
    await page.getByRole("link", { name: /Say it/ }).waitFor()
    second.child.kill("SIGINT")
    await second.finished

    const third = await serve(new URL(first.url).port, "a-third-one")
    const run = page.getByRole("link", { name: /Say it/ })
    const shown = page.getByRole("button", { name: /end · completed/ })
    await orAsked(run.click())
    await open("a-third-one")
    await Promise.race([shown.waitFor(), run.click().catch(() => {})])
    await shown.waitFor()
    expect(wrong).toEqual([])
    third.child.kill("SIGINT")
    await third.finished
  })

  test("nothing in the panes is out of reach, light and dark", async () => {
    const cwd = folderWith({ "a.txt": "one\n", "play.yaml": SCREENPLAY })
    await here(["run", "What does a.txt say?", "--screenplay", "play.yaml"], { cwd })
    const { url, stop } = await served(["--screenplay", "play.yaml"], cwd)
    const { page, wrong } = await openPage({ width: 1280, height: 800 })
    await page.goto(url)
    await said(page, "Choose a tool").waitFor()
    const found = async (): Promise<string[]> => violationsInBoth(page)
    expect(await found()).toEqual([])
    await page.getByRole("button", { name: /^edit_file/ }).click()
    await page.getByRole("button", { name: "Call", exact: true }).waitFor()
    expect(await found()).toEqual([])
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "")
    await page.getByRole("button", { name: "Copy as…" }).press("ArrowDown")
    await page.getByRole("menuitem", { name: "command line" }).waitFor()
    expect(await found()).toEqual([])
    await page.keyboard.press("ArrowDown")
    expect(await focused()).toBe("curl")
    await page.keyboard.press("Escape")
    await page.getByRole("menu").waitFor({ state: "detached" })
    expect(await focused()).toBe("Copy as…")
    await page.getByRole("tab", { name: "Form" }).press("ArrowRight")
    expect(await focused()).toBe("JSON")
    await page.keyboard.press("Enter")
    await page.getByRole("textbox", { name: "Arguments of edit_file" }).waitFor()
    expect(await found()).toEqual([])
    await page.getByRole("link", { name: "Runs" }).click()
    await page.getByRole("link", { name: /What does/ }).waitFor()
    expect(await found()).toEqual([])
    await page.getByRole("link", { name: /What does/ }).click()
    await page.getByRole("button", { name: /succeeded file_read/ }).click()
    await page.getByRole("region", { name: "Arguments of the call" }).waitFor()
    expect(await found()).toEqual([])
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox").fill("runs")
    expect(await found()).toEqual([])
    await page.keyboard.press("Escape")
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await found()).toEqual([])
    expect(wrong).toEqual([])
    await stop()
  }, 180_000)
})
