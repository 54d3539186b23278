import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { expect, test } from "vitest"
import { installedMegabytes } from "./installed.ts"
import { blocks, read, root, runExample } from "./run-example.ts"

type Manifest = Record<string, unknown> & {
  name: string
  version: string
  description: string
  files: string[]
  keywords: string[]
  license: string
  repository: { directory: string }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const folders = readdirSync(join(root, "packages"))
const manifest = (folder: string) => JSON.parse(read(`packages/${folder}/package.json`)) as Manifest

test.each(folders)("the package in %s says who it is", (folder) => {
  const { description, keywords, license, repository } = manifest(folder)
  expect(description.length).toBeGreaterThan(10)
  expect(keywords.length).toBeGreaterThan(3)
  expect(license).toBe("MIT")
  expect(repository.directory).toBe(`packages/${folder}`)
  expect(read(`packages/${folder}/LICENSE`)).toBe(read("LICENSE"))
  expect(read(`packages/${folder}/README.md`)).toContain(`# ${folder === "pocket" ? "Pocket" : manifest(folder).name}`)
})

test("every note of a change names packages that are there, and says something", () => {
  const names = new Set(folders.map((folder) => manifest(folder).name))
  const notes = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md")
  const wrong = notes.flatMap((file) => {
    const [, head = "", text = ""] = read(`.changeset/${file}`).split(/^---$/m)
    const named = [...head.matchAll(/^"([^"]+)": (?:patch|minor|major)$/gm)].map(([, name]) => name!)
    const unknown = named.filter((name) => !names.has(name))
    return named.length === 0 || text.trim() === "" ? [`${file}: nothing`] : unknown.map((name) => `${file}: ${name}`)
  })
  expect(wrong).toEqual([])
})

test("every version is exact: what was tested is what is installed", () => {
  const loose = [
    "package.json",
    ".ci/checks/package.json",
    ".ci/clients/package.json",
    ...folders.map((folder) => `packages/${folder}/package.json`),
  ].flatMap((file) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(read(file)) as Manifest
    return Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !/^(npm:[@\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${file}: ${name} ${version}`)
  })
  expect(loose).toEqual([])
})

test("each package of others has its row in docs/dependencies.md, with the rooms that need it", () => {
  const needed = new Map<string, string[]>()
  for (const folder of folders) {
    const { dependencies = {}, peerDependencies = {} } = manifest(folder)
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
      if (/^(@toolwright\/|toolwright$)/.test(name)) continue
      needed.set(name, [...(needed.get(name) ?? []), folder])
    }
  }
  const rows = new Map(
    read("docs/dependencies.md")
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.split("|").map((cell) => cell.replaceAll(/\(.*?\)/g, "").trim()))
      .map(([, name, rooms = ""]) => [name!, rooms.split(", ").map((room) => room.trim())]),
  )
  expect(needed.size).toBeGreaterThan(20)
  for (const [name, rooms] of needed) expect(rows.get(name)?.toSorted(), name).toEqual(rooms.toSorted())
})

test("what the repository itself needs stands in docs/dependencies.md too, types and clients apart", () => {
  const told = read("docs/dependencies.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => line.split("|")[1]!.split(","))
    .map((name) => name.trim())
  const scopes = told.filter((name) => name.endsWith("/*")).map((name) => name.slice(0, -1))
  const manifests = ["package.json", ...folders.map((folder) => `packages/${folder}/package.json`)]
  const untold = manifests.flatMap((file) => {
    const { devDependencies = {}, optionalDependencies = {} } = JSON.parse(read(file)) as Record<string, object>
    return Object.keys({ ...devDependencies, ...optionalDependencies }).filter(
      (name) =>
        !/^(@toolwright\/|toolwright$|@types\/)/.test(name) &&
        !told.includes(name) &&
        !scopes.some((scope) => name.startsWith(scope)),
    )
  })
  expect(untold).toEqual([])
})

test("no test code is in a package", () => {
  const shipped = folders.flatMap((folder) => {
    const dist = join(root, "packages", folder, "dist")
    if (!existsSync(dist)) return []
    const own = folder === "testing" ? /^$/ : /(^|\/)(testing|fixtures)\//
    return (readdirSync(dist, { recursive: true }) as string[])
      .filter((file) => /\.test\.|\.map$/.test(file) || own.test(file))
      .map((file) => `${folder}/dist/${file}`)
  })
  expect(shipped, "rm -r packages/*/dist and npm run build").toEqual([])
})

test("what code finds outside of its folder is in its package", () => {
  const missing = folders.flatMap((folder) => {
    const files = manifest(folder).files.filter((file) => !file.startsWith("!"))
    const src = join(root, "packages", folder, "src")
    const sources = existsSync(src) ? (readdirSync(src, { recursive: true }) as string[]) : []
    const shipped = sources.filter(
      (file) => file.endsWith(".ts") && !/\.test\.ts$|testing\/|fixtures\/|generate/.test(file),
    )
    return shipped.flatMap((file) =>
      [...readFileSync(join(src, file), "utf8").matchAll(/new URL\("(\.\.\/[^"]+)", import\.meta\.url\)/g)]
        .map(([, path]) => relative(join(root, "packages", folder), join(src, dirname(file), path!)))
        .filter((path) => !/^(?:package\.json)?$/.test(path) && !files.includes(path.split("/")[0]!))
        .map((path) => `${folder}/${path}`),
    )
  })
  expect(missing).toEqual([])
})

interface Locked {
  version?: string
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
}

test("every package that is installed has its integrity in the lock file, and one alone an install script, which does not run", () => {
  const locks = ["", ".ci/checks/", ".ci/clients/"].map((folder) => `${folder}package-lock.json`)
  const foreign = locks.flatMap((file) => {
    const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> }
    return Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && link !== true)
  })
  expect(foreign.length).toBeGreaterThan(100)
  expect(foreign.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual([])
  expect(foreign.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([
    "node_modules/node-llama-cpp",
  ])
  expect(readFileSync(join(root, ".npmrc"), "utf8")).toContain("ignore-scripts=true")
})

test("npm ci takes at most 400 MB, of which 189 are the Node that it brings", () => {
  const size = installedMegabytes(root)
  expect(size).toBeGreaterThan(100)
  expect(size).toBeLessThan(400)
})

const examples = folders
  .filter((folder) => !["pocket", "toolformat"].includes(folder))
  .map((folder) => [folder, blocks(`packages/${folder}/README.md`, "ts")[0]!] as const)

test.each(examples)("the example in the README of %s prints what it says", async (folder, code) => {
  const promised = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line).join("\n")
  expect(promised).not.toBe("")
  expect((await runExample(`readme-${folder}`, code)).trim()).toBe(promised)
})
