import { parse } from "./json.ts"

/** A call as somebody would write it elsewhere. */
export const COPIES = [
  ["command line", commandLine],
  ["curl", curl],
  ["TypeScript", typescript],
  ["test", testCase],
  ["JSON", (_name: string, args: string) => args],
] as const

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const compact = (args: string): string => {
  const parsed = parse(args)
  return "value" in parsed && !args.includes("\n") ? args : "value" in parsed ? args.replaceAll(/\n\s*/g, " ") : args
}

function commandLine(name: string, args: string): string {
  return `npx toolwright tools call ${quoted(name)} --args ${quoted(compact(args))}`
}

function curl(name: string, args: string): string {
  const url = `${location.origin}/tools/${encodeURIComponent(name)}`
  return (
    `curl -s ${quoted(url)} -H 'content-type: application/json' -H "authorization: Bearer $TOOLWRIGHT_TOKEN" -d ` +
    `${quoted(compact(args))}`
  )
}

function typescript(name: string, args: string): string {
  return `import { createToolwright } from "toolwright"

await using toolwright = await createToolwright({ builtins: {} })
const result = await toolwright.registry.execute(${JSON.stringify(name)}, ${args.trim()})
console.log(result.success, result.output)
`
}

function testCase(name: string, args: string): string {
  return `import { createToolwright } from "toolwright"
import { expect, test } from "vitest"

test(${JSON.stringify(`${name} does what it did`)}, async () => {
  await using toolwright = await createToolwright({ builtins: {} })
  const { success, output } = await toolwright.registry.execute(${JSON.stringify(name)}, ${args.trim().replaceAll("\n", "\n  ")})
  expect(output).toMatchSnapshot()
  expect(success).toBe(true)
})
`
}
