import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { dirname, extname, join } from "node:path"
import { gzipSync } from "node:zlib"

/** A file of the page, as it is sent. */
export interface PageFile {
  bytes: Uint8Array<ArrayBuffer>
  /** The same, compressed when it is first asked for. */
  readonly gzip: Uint8Array<ArrayBuffer>
  type: string
  /** Its name changes with its content, so that it can be kept for ever. */
  lasting: boolean
}

/** The files of the page, by their path below `/`. */
export interface ConsoleFiles {
  /** @param path `index.html`, or `assets/…` as it names them */
  file(path: string): Promise<PageFile | undefined>
  /** Script and style sheet of a run as one file. */
  viewer(): Promise<{ script: string; style: string }>
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Seen from the sources and from what is built alike. */
const BUILT = join(import.meta.dirname, "../dist/page")
const SOURCES = join(import.meta.dirname, "page/main.tsx")

/**
 * The page as it was built. In a clone of the repository it is built when it is first asked for, and again when its
 * sources have changed.
 *
 * @param options.log is told when it is built, since that takes some seconds
 */
export function consoleFiles({ log = () => {} }: { log?: (line: string) => void } = {}): ConsoleFiles {
  let read: Promise<ReadonlyMap<string, PageFile>> | undefined
  const files = (): Promise<ReadonlyMap<string, PageFile>> => (read ??= readPage(log))
  return {
    file: async (path) => (await files()).get(path),
    async viewer() {
      await files()
      const text = (name: string): string => readFileSync(join(BUILT, "viewer", name), "utf8")
      return { script: text("viewer.js"), style: text("viewer.css") }
    },
  }
}

async function readPage(log: (line: string) => void): Promise<ReadonlyMap<string, PageFile>> {
  if (existsSync(SOURCES)) {
    const { isBuilt } = await import("./build/stamp.ts")
    if (!isBuilt(BUILT)) {
      const { buildPage } = await import("./build/build.ts")
      mkdirSync(dirname(BUILT), { recursive: true })
      if (!existsSync(BUILT)) log("Building the console: once, and when its sources change.")
      await buildPage(BUILT)
    }
  }
  const files = new Map<string, PageFile>()
  for (const name of readdirSync(BUILT, { recursive: true }) as string[]) {
    const type = TYPES[extname(name)]
    if (type === undefined || name.startsWith("viewer")) continue
    const bytes = new Uint8Array(readFileSync(join(BUILT, name)))
    const path = name.replaceAll("\\", "/")
    let packed: Uint8Array<ArrayBuffer> | undefined
    files.set(path, {
      bytes,
      get gzip() {
        return (packed ??= new Uint8Array(gzipSync(bytes)))
      },
      type,
      lasting: path.startsWith("assets/"),
    })
  }
  return files
}
