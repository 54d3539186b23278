import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { COMMANDS } from "./commands/index.ts"
import { optionsHelp } from "./common-help.ts"
import { cliReference } from "./reference.ts"

test("docs/cli.md is what the commands' help says (else: npm run generate -w packages/cli)", async () => {
  expect(readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")).toBe(await cliReference())
})

test.each(COMMANDS.map((entry) => entry.name))(
  "the examples of %s use commands and options that there are",
  async (name) => {
    const { usage } = await COMMANDS.find((entry) => entry.name === name)!.load()
    const lines = usage
      .slice(usage.indexOf("Examples:"))
      .split("\n")
      .map((line) => line.replace(/(?<=\S) +# .*$/, ""))
      .filter((line) => /^ {2}[^#\s]/.test(line))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      const [, command, rest] = /\btoolwright (\w\S*)(.*)$/.exec(line) ?? []
      expect(COMMANDS.map((entry) => entry.name)).toContain(command)
      const options = [...rest!.replaceAll(/"[^"]*"|'[^']*'/g, "").matchAll(/ --([\w-]+)/g)].map((match) => match[1]!)
      // The arguments of a tool are options too: those of the examples are checked where tools are called.
      for (const option of / call /.test(line) ? [] : options)
        expect(usage + optionsHelp()).toContain(`--${option.replace(/^no-/, "")}`)
    }
  },
)
