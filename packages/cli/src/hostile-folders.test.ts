import { probeBubblewrap } from "@toolwright/host/sandbox"
import { describe, expect, test } from "vitest"
import { FOLDERS } from "./testing/hostile-folders.ts"
import { inPlace, leftIn, type Place } from "./testing/hostile-place.ts"

const { program: sandbox } = await probeBubblewrap()

async function said(place: Place, commands: readonly (readonly string[])[]): Promise<string> {
  const all: string[] = []
  for (const args of commands) {
    const { stdout, stderr } = await place.run(args)
    // A command that is none proves nothing.
    expect(stderr, args.join(" ")).not.toContain("Unknown option")
    // A command that failed says what to do, and shows nothing of its inside.
    expect(stderr, args.join(" ")).not.toMatch(/^ +at .*:\d+:\d+/m)
    all.push(stdout, stderr)
  }
  return all.join("\n")
}

describe.skipIf(process.platform === "win32")("a folder from elsewhere", () => {
  test("comes in 22 kinds", () => expect(new Set(FOLDERS.map(({ name }) => name)).size).toBe(22))

  describe.each(FOLDERS.map((folder) => [folder.name, folder] as const))("with %s", (_, folder) => {
    test.skipIf(folder.needs === "sandbox" && sandbox === undefined)("gets nothing", () =>
      inPlace(folder, async (place) => {
        const words = await said(place, folder.commands)
        expect(folder.caught(place, words), words).toBe(false)
        expect(leftIn(place)).toEqual([])
      }),
    )

    test("is a trap", () =>
      inPlace(folder, async (place) => {
        const { control } = folder
        const words = typeof control === "function" ? String(control(place) ?? "") : await said(place, control)
        expect(folder.caught(place, words), words).toBe(true)
      }))
  })
})
