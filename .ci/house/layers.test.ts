import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

/** A room may look only into rooms above it. */
const ROOMS = [
  "toolbox",
  "logits",
  "toolformat",
  "backends",
  "dialogue",
  "host",
  "tools",
  "tools-web",
  "tools-blog",
  "tools-database",
  "prompts",
  "mcp",
  "rest",
  "store",
  "agents",
  "runtime",
  "testing",
  "server",
  "console",
  "cli",
]
const PURE = new Set(["toolbox", "logits", "toolformat"])
const root = join(import.meta.dirname, "../..")
/** A package without sources holds data alone: it looks nowhere, and any room may read it. */
const rooms = readdirSync(join(root, "packages")).filter((room) => existsSync(join(root, "packages", room, "src")))

function sources(room: string): { file: string; imports: string[] }[] {
  const folder = join(root, "packages", room, "src")
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (file) => /\.tsx?$/.test(file) && !/(^|\/)(fixtures|testing)\//.test(file),
  )
  return files
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1]!)
      return { file: `packages/${room}/src/${file}`, imports }
    })
}

const read = new Map(rooms.map((room) => [room, sources(room)]))

test("every room is in the plan, and the check sees its files", () => {
  for (const room of rooms) {
    expect(ROOMS).toContain(room)
    expect(read.get(room)!.length, room).toBeGreaterThan(0)
  }
  expect([...read.values()].flat().length).toBeGreaterThan(100)
})

test.each(rooms)("%s looks only into rooms above it", (room) => {
  const below = new Set(ROOMS.slice(ROOMS.indexOf(room)))
  const wrong = read.get(room)!.flatMap(({ file, imports }) =>
    imports.flatMap((specifier) => {
      const target = /^@toolwright\/([a-z-]+)/.exec(specifier)?.[1]
      const escapes = /^(\.\.\/)+packages\//.test(specifier)
      return (target !== undefined && below.has(target)) || escapes ? [`${file} imports ${specifier}`] : []
    }),
  )
  expect(wrong).toEqual([])
})

test.each([...PURE])("%s is pure: nothing of Node in it", (room) => {
  const wrong = read
    .get(room)!
    .flatMap(({ file, imports }) =>
      imports.filter((specifier) => specifier.startsWith("node:")).map((specifier) => `${file} imports ${specifier}`),
    )
  expect(wrong).toEqual([])
})

test("MCP is known to no room but its own and the surfaces", () => {
  const core = ROOMS.slice(0, ROOMS.indexOf("runtime")).filter((room) => room !== "mcp" && rooms.includes(room))
  const wrong = [...core, "server"].flatMap((room) =>
    read
      .get(room)!
      .filter(({ imports }) =>
        imports.some((specifier) => /^@(?:modelcontextprotocol|toolwright\/mcp)/.test(specifier)),
      )
      .map(({ file }) => file),
  )
  expect(wrong).toEqual([])
  // The two services that compose.yaml starts need nothing of it either.
  for (const file of ["compose.yaml", "docker/services.ts", "docker/Dockerfile"])
    expect(readFileSync(join(root, file), "utf8"), file).not.toMatch(/\bmcp\b/i)
})
