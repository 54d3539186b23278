import { expect, test } from "vitest"
import { consoleFiles, type PageFile } from "./index.ts"

/** What the first load of the page may take over the wire, compressed. */
const MOST = 300 * 1024

test("the first load of the page stays small, with the first pane in it", async () => {
  const page = consoleFiles()
  const text = ({ bytes }: PageFile): string => new TextDecoder().decode(bytes)
  const loaded = new Map<string, number>()
  const load = async (path: string): Promise<void> => {
    const file = await page.file(path)
    if (file === undefined || loaded.has(path)) return
    loaded.set(path, file.gzip.length)
    // What is imported as a whole is loaded at once; what is imported by a call, when it is needed.
    const named = path.endsWith(".html")
      ? [...text(file).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!)
      : [...text(file).matchAll(/(?:from|import)\s?"\.\/([^"]+)"/g)].map(([, name]) => `assets/${name}`)
    for (const name of named) await load(name)
  }
  await load("index.html")
  const entry = text((await page.file([...loaded.keys()].find((path) => /index-.*\.js$/.test(path))!))!)
  const [, tools] = /"\.\/(tools-[^"]+\.js)"/.exec(entry) ?? []
  await load(`assets/${tools}`)
  const size = [...loaded.values()].reduce((sum, each) => sum + each, 0)
  console.log(`${loaded.size} files, ${Math.round(size / 1024)} KB`)
  expect(loaded.size).toBeGreaterThan(4)
  expect(size).toBeLessThan(MOST)
  for (const path of loaded.keys()) expect(path).not.toMatch(/code-mirror|charts/)
})
