import { expect, test } from "vitest"
import { pane, violationsInBoth } from "../testing/browser.ts"
import { describeInBrowser, openPage } from "../testing/in-browser.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const writing = (text: string): string =>
  `steps:\n  - reply: { calls: [{ name: file_write, arguments: { path: out.txt, content: ${text} } }] }\n  - ` +
  `reply: ${text} it is.\n`

const SUITE = `name: writing
trials: 2
models:
  - { id: the-good-one, screenplay: good.yaml }
  - { id: the-other, screenplay: other.yaml }
tasks:
  write:
    task: Write right into out.txt.
    graders:
      - file: { path: out.txt, equals: right }
  guess:
    task: Guess.
    graders:
      - any: [{ answer: { contains: right } }, { name: "<b>nobody</b>", command: { run: no-such-program-here } }]
`

describeInBrowser("evaluations in the console", () => {
  test("are listed, and lead to the run of each trial, in light and dark", async () => {
    const cwd = folderWith({ "suite.yaml": SUITE, "good.yaml": writing("right"), "other.yaml": writing("wrong") })
    expect((await here(["eval", "run", "suite.yaml"], { cwd })).code).toBe(1)
    const running = startHere(["ui", "--no-open"], { cwd })
    const [url] = await running.until(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/)
    const { page, wrong } = await openPage()
    await page.goto(url!)
    await pane(page, "Evaluations")
    await page.getByRole("link", { name: /writing/ }).click()
    const tasks = page.getByRole("region", { name: "Tasks" })
    await tasks.waitFor()
    expect(await tasks.getByRole("row").allInnerTexts()).toEqual([
      expect.stringMatching(/the-good-one\s+the-other/),
      expect.stringMatching(/write\s+2 of 2\s+0 of 2/),
      expect.stringMatching(/guess\s+2 of 2\s+2 not measured/),
    ])
    expect(await violationsInBoth(page)).toEqual([])
    await page.getByRole("combobox", { name: "Which trials" }).selectOption("Those not measured")
    expect(await page.getByRole("region", { name: "Trials" }).getByText("<b>nobody</b>").count()).toBe(2)
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(await violationsInBoth(page), "on a narrow screen").toEqual([])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole("combobox", { name: "Which trials" }).selectOption("All trials")
    await page.getByRole("link", { name: "Its run" }).first().click()
    await page.getByText("Write right into out.txt.").first().waitFor()
    expect(wrong).toEqual([])
    await page.close()
    await running.stop()
  })
})
