import { expect, test } from "vitest"
import { pane, violations } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { startHere } from "../testing/run-here.ts"

describeInBrowser("the console of a server without a model, in a browser", () => {
  test("starts nothing and talks to nobody, says why and what to do, and asks the server for neither", async () => {
    const cwd = folderWith({ "a.txt": "one\n" })
    const running = startHere(["ui", "--no-open"], { cwd })
    const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
    const { page, wrong } = await openPage()
    const asked: string[] = []
    page.on("request", (request) => {
      const { pathname } = new URL(request.url())
      if (request.method() === "POST" || pathname.startsWith("/conversations")) asked.push(pathname)
    })
    await page.goto(url!)

    await pane(page, "Runs")
    const start = page.getByRole("button", { name: "Start", exact: true })
    await page.getByRole("textbox", { name: "What it is to do" }).fill("Look around")
    const why = page.locator("#no-model")
    await why.waitFor()
    expect(await why.textContent()).toContain("--backend pocket")
    expect([await start.isDisabled(), await start.getAttribute("aria-describedby")]).toEqual([true, "no-model"])
    expect(await violations(page)).toEqual([])

    await pane(page, "Agents")
    const assistant = page.getByRole("region", { name: "assistant" })
    await assistant.getByRole("textbox").fill("Look around")
    await page.getByText("it waits for a").waitFor()
    expect(await assistant.getByRole("button", { name: "Start and watch" }).isDisabled()).toBe(true)
    expect(await assistant.getByRole("button", { name: "Queue as a task" }).isEnabled()).toBe(true)
    expect(await violations(page)).toEqual([])

    await pane(page, "Chat")
    await page.getByRole("heading", { name: "No model is configured, so there is nobody to talk to" }).waitFor()
    expect(asked.filter((path) => /^\/(runs|tasks|conversations)/.test(path))).toEqual([])
    expect(wrong).toEqual([])
    await page.close()
    await running.stop()
  }, 120_000)

  test("says of a tool's form which needed text is empty, before it is called", async () => {
    const running = startHere(["ui", "--no-open"], { cwd: folderWith({}) })
    const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
    const { page, wrong } = await openPage()
    await page.goto(url!)
    await page.getByRole("searchbox", { name: "Filter tools" }).fill("read_text_file")
    await page.getByRole("button", { name: /^read_text_file/ }).click()
    await page.getByText("The arguments fit, but nothing stands in path.").waitFor()
    await page.getByLabel("path").fill("a.txt")
    await page.getByText("The arguments fit.", { exact: true }).waitFor()
    expect(wrong).toEqual([])
    await page.close()
    await running.stop()
  }, 120_000)
})
