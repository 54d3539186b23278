import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createTranslator, discoverMounts } from "./mapping.ts"
import { createPathPolicy, type Access, type PathPolicy } from "./policy.ts"

let folder = ""
let root = ""
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-policy-")))
  root = join(folder, "ws")
  mkdirSync(join(root, "sub"), { recursive: true })
  mkdirSync(join(folder, "ws-evil"))
  symlinkSync(root, join(folder, "alias"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const policyOf = (more: object = {}) => createPathPolicy({ roots: [{ path: root, access: "read-write" }], ...more })
const outcome = (policy: PathPolicy, path: string, access: Access = "read"): string => {
  try {
    return policy.locate(path, access).path
  } catch (thrown) {
    return (thrown as { code: string }).code
  }
}

describe("a path", () => {
  test("is inside by its components, not by its first letters", () => {
    const policy = policyOf()
    for (const path of [
      "..",
      "../ws-evil/a",
      `${root}-evil/a`,
      `${root}/../ws-evil`,
      "/",
      "/etc",
      "sub/../../x",
      "~",
      "~/x",
      "//etc/passwd",
      "./..",
    ]) {
      expect([path, outcome(policy, path)]).toEqual([path, "ACCESS_DENIED"])
    }
    for (const path of ["a", "./a", "sub//../a", `${root}/a`, `${root}//a/`, `${root}/sub/../a`]) {
      expect([path, outcome(policy, path)]).toEqual([path, join(root, "a")])
    }
    expect(outcome(policy, "..\\..\\etc")).toBe(
      process.platform === "win32" ? "ACCESS_DENIED" : join(root, "..\\..\\etc"),
    )
    expect(outcome(policy, ".")).toBe(root)
    expect(outcome(policy, "...")).toBe(join(root, "..."))
  })

  test("is refused with null bytes, control characters, without a character, or too long", () => {
    const policy = policyOf()
    for (const path of ["", "a\0", "a\nb", "a\u001b[31m", "\u007f", "x".repeat(5000)])
      expect(outcome(policy, path)).toBe("INVALID_PATH")
    expect(() => policy.locate("a\u0000b", "read")).toThrow(/denied.*\\u0000.*null byte/u)
  })

  test("outside gets one answer, whether it exists or not", () => {
    const policy = policyOf()
    const message = (path: string) => {
      try {
        return String(policy.locate(path, "read"))
      } catch (thrown) {
        return (thrown as Error).message.replace(path, "PATH")
      }
    }
    expect(message("/etc/passwd")).toBe(message("/nonexistent/file.txt"))
    expect(message("/etc/passwd")).toMatch(/denied.*not found.*permission/u)
  })

  test("may be given through the root as it was configured, though that is a link", () => {
    const policy = createPathPolicy({ roots: [{ path: join(folder, "alias") }] })
    expect(outcome(policy, join(folder, "alias/a"))).toBe(join(root, "a"))
    expect(policy.show(join(root, "a"))).toBe(join(folder, "alias/a"))
  })

  test("belongs to the deepest root that holds it", () => {
    const policy = createPathPolicy({ roots: [{ path: root }, { path: join(root, "sub"), access: "read-write" }] })
    expect(outcome(policy, "a", "write")).toBe("READ_ONLY")
    expect(outcome(policy, "sub/a", "write")).toBe(join(root, "sub/a"))
  })

  test("in the kernel's file systems is outside even of the root directory", () => {
    const policy = createPathPolicy({ roots: [{ path: "/" }] })
    expect(outcome(policy, "/etc/hostname")).toBe("/etc/hostname")
    for (const path of ["/proc/self/environ", "/sys/kernel", "/dev/zero", "/proc"])
      expect(outcome(policy, path)).toBe("ACCESS_DENIED")
  })
})

describe("the deny lists", () => {
  test("keep secrets from readers and writers, and repositories' state from writers", () => {
    const policy = policyOf()
    for (const secret of [
      ".env",
      ".env.local",
      "sub/.env.production",
      ".ssh/config",
      "keys/server.pem",
      "id_rsa",
      "id_ed25519.pub",
      ".aws/credentials",
    ]) {
      expect([secret, outcome(policy, secret)]).toEqual([secret, "ACCESS_DENIED"])
    }
    for (const fixed of [
      "toolwright.yaml",
      "Toolwright.YAML",
      ".toolwright/runs/x/events.jsonl",
      ".git/config",
      ".git",
      "sub/.git/hooks/x",
      "node_modules/a/b.js",
      "dist/a.js",
      "data.sqlite",
      ".venv/x",
    ]) {
      expect([fixed, outcome(policy, fixed, "write")]).toEqual([fixed, "ACCESS_DENIED"])
      expect(outcome(policy, fixed, "read")).toBe(join(root, fixed))
    }
    for (const open of [".env.example", ".gitignore", ".github/x.yml", "environment.ts", "builder.ts", "my.env.ts"]) {
      expect(outcome(policy, open, "write")).toBe(join(root, open))
    }
  })

  test("see through every spelling of a name", () => {
    const policy = policyOf()
    for (const name of [".GIT", ".Git", ".git.", ".git ", ".g\u200cit", "git~1", ".ＧＩＴ"]) {
      expect([name, outcome(policy, `${name}/config`, "write")]).toEqual([name, "ACCESS_DENIED"])
    }
    expect(outcome(policy, ".ENV")).toBe("ACCESS_DENIED")
  })

  test("take no longer for a pattern of many stars than for others", () => {
    const policy = policyOf({ denyRead: [`${"*a".repeat(40)}*b`, "*c*d?e"] })
    const before = process.cpuUsage()
    expect(outcome(policy, "a".repeat(250))).toBe(join(root, "a".repeat(250)))
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1000)
    expect(outcome(policy, `${"a".repeat(200)}b`)).toBe("ACCESS_DENIED")
    expect(outcome(policy, "1C2D3E")).toBe("ACCESS_DENIED")
  })

  test("can be replaced", () => {
    const policy = policyOf({ denyRead: ["*.secret"], denyWrite: [] })
    expect(outcome(policy, ".env")).toBe(join(root, ".env"))
    expect(outcome(policy, "a.secret")).toBe("ACCESS_DENIED")
    expect(outcome(policy, ".git/config", "write")).toBe(join(root, ".git/config"))
  })
})

describe("roots", () => {
  test("must be there, be directories, and be at least one", () => {
    expect(() => createPathPolicy({ roots: [] })).toThrow(/at least one/u)
    expect(() => createPathPolicy({ roots: [{ path: join(folder, "none") }] })).toThrow(/does not exist/u)
    expect(() => createPathPolicy({ roots: [{ path: "/etc/hostname" }] })).toThrow(/not a directory/u)
  })
})

describe("host paths", () => {
  test("are translated by the longest prefix, by whole components, both ways", () => {
    const { toLocal, toHost } = createTranslator([
      { host: "/home/me", container: "/mnt/read_only/home/me" },
      { host: "/home/me/app", container: "/mnt/read_write/home/me/app" },
    ])
    expect(toLocal("/home/me/app/a.ts")).toBe("/mnt/read_write/home/me/app/a.ts")
    expect(toLocal("/home/me/apple")).toBe("/mnt/read_only/home/me/apple")
    expect(toLocal("/home/me/app")).toBe("/mnt/read_write/home/me/app")
    expect(toLocal("/home/mean")).toBe("/home/mean")
    for (const path of ["/home/me/app/a.ts", "/home/me/b", "/elsewhere"]) expect(toHost(toLocal(path))).toBe(path)
  })

  test("are all that users see", () => {
    const policy = createPathPolicy({
      roots: [{ path: "/home/me/app", access: "read-write" }],
      mapping: [{ host: "/home/me/app", container: root }],
    })
    expect(policy.locate("/home/me/app/sub/a", "write")).toMatchObject({
      path: join(root, "sub/a"),
      shown: "/home/me/app/sub/a",
    })
    expect(policy.locate("sub/a", "read").shown).toBe("/home/me/app/sub/a")
    expect(policy.roots[0]?.path).toBe("/home/me/app")
    expect(outcome(policy, "/home/me/other")).toBe("ACCESS_DENIED")
  })

  test("are found in the table of mounts", () => {
    const table = [
      "36 35 98:0 / /mnt/read_write/home/me/my\\040app rw,noatime - ext4 /dev/x rw",
      "37 35 98:0 / /mnt/read_only/srv/data ro - ext4 /dev/x ro",
      "38 35 98:0 / /mnt/other rw - ext4 /dev/x rw",
    ].join("\n")
    expect(discoverMounts(table)).toEqual({
      roots: [
        { path: "/home/me/my app", access: "read-write" },
        { path: "/srv/data", access: "read-only" },
      ],
      mapping: [
        { host: "/home/me/my app", container: "/mnt/read_write/home/me/my app" },
        { host: "/srv/data", container: "/mnt/read_only/srv/data" },
      ],
    })
  })
})
