import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { violationsInBoth } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

test("how the pocket model came to a call is recorded where it is asked for, and shown by 'runs show --tokens'", async () => {
  const cwd = folderWith({ "notes.md": "one\ntwo\n" })
  const task = "show me the first 2 lines of notes.md"
  await here(["run", task, "--backend", "pocket"], { cwd })
  expect((await here(["runs", "show", "latest", "--tokens"], { cwd })).stdout).toContain("No tokens are recorded")
  await here(["run", task, "--backend", "pocket", "--record-tokens"], { cwd })
  const { stdout } = await here(["runs", "show", "latest", "--tokens"], { cwd })
  expect(stdout).toMatch(/<tool_call>\s+\d+\.\d %\s+\d+ allowed/)
  expect(stdout).toContain("path from “show me the first 2 lines of notes.md” (user, message 1)")
  expect(stdout).toContain("(held to what was said: path)")
  expect(stdout).toContain("head from “show me the first 2 lines of notes.md”")
  expect((await here(["runs", "show", "latest"], { cwd })).stdout).not.toContain("allowed")
  expect((await here(["audit", "verify"], { cwd })).code).toBe(0)
})

test("a model that cannot tell is said to record nothing of its tokens, and the run goes on", async () => {
  const cwd = folderWith({ "play.yaml": "steps:\n  - reply: Done.\n" })
  const { code, stdout, stderr } = await here(["run", "hi", "--screenplay", "play.yaml", "--record-tokens"], { cwd })
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") })
  expect(stderr).toContain("none of their tokens is recorded")
})

describeInBrowser("tokens in a browser", () => {
  test("a reply shows its tokens, what the grammar removed, and where a call's arguments come from, light and dark", async () => {
    const cwd = folderWith({ "notes.md": "one\ntwo\n" })
    const running = startHere(["ui", "--no-open", "--backend", "pocket", "--record-tokens"], { cwd })
    const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
    const { page, wrong } = await openPage()
    await page.emulateMedia({ colorScheme: "dark" })
    await page.goto(url!)
    await page.getByRole("link", { name: "Runs" }).click()
    await page.getByRole("textbox", { name: "What it is to do" }).fill("show me the first 2 lines of notes.md")
    await page.getByRole("button", { name: "Start" }).click()
    await page.getByRole("button", { name: /end · / }).waitFor()

    await page.getByRole("button", { name: /succeeded read_text_file/ }).click()
    const origins = page.getByRole("region", { name: "Where the arguments come from" })
    expect(await origins.textContent()).toMatch(
      /path.*lines of notes\.md.*user, message 1.*held to what was said: path/,
    )
    await page.getByText("The grammar that held the reply").click()
    await page.getByRole("region", { name: "Grammar" }).getByText("root ::=").waitFor()
    expect(await violationsInBoth(page)).toEqual([])

    await page
      .getByRole("button", { name: /^reply · / })
      .nth(1)
      .click()
    const tokens = page.getByRole("listbox", { name: "Tokens of the reply" })
    await tokens.focus()
    await page.keyboard.press("Home")
    const choices = page.getByRole("region", { name: "What could have come here" })
    // After a plain command that went well only words may follow: the call is what the grammar removed.
    await choices.getByRole("listitem").filter({ hasText: "<tool_call>" }).getByText("removed").waitFor()
    expect(await choices.textContent()).toMatch(/Token 1 of \d+\. The grammar let \d+ tokens through, and removed/)
    await page.keyboard.press("End")
    await choices.getByText("the end").waitFor()
    expect(await violationsInBoth(page)).toEqual([])
    expect(wrong).toEqual([])
    await running.stop()

    const { stdout } = await here(["runs", "export", "latest", "--html", "--to", "run.html"], { cwd })
    const file = await openPage()
    await file.page.goto(pathToFileURL(stdout.trim()).href)
    await file.page.getByRole("button", { name: /succeeded read_text_file/ }).click()
    await file.page.getByRole("region", { name: "Where the arguments come from" }).waitFor()
    await file.page.getByText("The grammar that held the reply").click()
    await file.page.getByRole("region", { name: "Grammar" }).getByText("root ::=").waitFor()
    expect(file.wrong).toEqual([])
  }, 240_000)
})
