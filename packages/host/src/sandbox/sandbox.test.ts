import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { childEnvironment } from "../spawn/environment.ts"
import { probeBubblewrap, runSandboxed, sandboxMissing, sandboxNotice, type SandboxedRequest } from "./sandbox.ts"

const probed = await probeBubblewrap()
let folder = ""
let root = ""
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-sandbox-")))
  root = join(folder, "workspace")
  mkdirSync(root)
  writeFileSync(join(folder, "secret.txt"), "SECRET")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** By which a `sleep` of this process is told from those of others; it takes minutes. */
const MARK = `300.${process.pid}`

/** What was killed ends as soon as it gets its turn. */
const untilGone = (argument: string) =>
  vi.waitFor(() => expect(execFileSync("ps", ["-eo", "args="], { encoding: "utf8" })).not.toContain(argument))

const run = (
  script: string,
  more: Partial<SandboxedRequest> & { network?: boolean; protect?: string[]; maxProcesses?: number } = {},
) => {
  const { network = false, protect = [], maxProcesses = 64, ...rest } = more
  return runSandboxed({
    argv: ["sh", "-c", script],
    cwd: root,
    env: childEnvironment(),
    timeoutMs: 60_000,
    policy: "auto",
    plan: { root, writable: true, network, protect, limits: { processes: maxProcesses } },
    ...rest,
  })
}

describe.skipIf(probed.program === undefined)("a sandbox by bubblewrap", () => {
  test("lets a command read and write the workspace", async () => {
    const { outcome, sandbox } = await run("echo text > file && cat file")
    expect(outcome.stdout.text).toBe("text\n")
    expect(existsSync(join(root, "file"))).toBe(true)
    expect(sandbox).toMatchObject({
      kind: "bubblewrap",
      filesystem: "workspace-only",
      network: "none",
      processes: "own-namespace",
    })
    expect(sandboxNotice(sandbox)).toBe("")
  })

  test("hides everything beside the workspace, the home folder, and other processes", async () => {
    const { outcome } = await run(
      `cat ../secret.txt; find ${homedir()} -maxdepth 1 -type f; ls -A ${homedir()}/.ssh; cat /etc/shadow | head ` +
        "-1; ls /proc | grep -c '^[0-9]'",
    )
    expect(outcome.stdout.text).not.toContain("SECRET")
    // Nothing but the number of processes: no file of the home folder either.
    expect(outcome.stdout.text).toMatch(/^\d+\n$/u)
    expect(Number(outcome.stdout.text.trim().split("\n").at(-1))).toBeLessThan(12)
  })

  test("refuses to write outside the workspace", async () => {
    const { outcome } = await run("touch /usr/bin/planted; touch /etc/planted; echo x > /opt/planted; touch ../planted")
    expect(outcome.stderr.text.match(/Read-only/gu)).toHaveLength(3)
    for (const path of ["/usr/bin/planted", "/etc/planted", "/opt/planted", join(folder, "planted")])
      expect(existsSync(path)).toBe(false)
  })

  test("does not follow a link out of the workspace", async () => {
    const { outcome } = await run(`ln -s ${folder} out; cat out/secret.txt; echo x > out/planted; rm out`)
    expect(outcome.stdout.text).not.toContain("SECRET")
    expect(existsSync(join(folder, "planted"))).toBe(false)
  })

  test("has no network, not even the machine's own loopback", async () => {
    const server = createServer((_, response) => void response.end("reached"))
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done))
    const { port } = server.address() as AddressInfo
    const ask =
      `${process.execPath} -e 'fetch("http://127.0.0.1:${port}").then(async (r) => console.log(await r.text()), ` +
      `(e) => console.log("no"))'`
    expect((await run(ask)).outcome.stdout.text).toBe("no\n")
    const open = await run(ask, { network: true })
    expect(open.outcome.stdout.text).toBe("reached\n")
    expect(open.sandbox.network).toBe("shared")
    server.close()
  })

  test("has no capabilities and cannot gain any", async () => {
    const { outcome } = await run("grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")
    expect(outcome.stdout.text).toMatch(/CapEff:\s+0{16}\nNoNewPrivs:\s+1/u)
  })

  test("changes no setting of the kernel, root or not", async () => {
    const before = readFileSync("/proc/sys/kernel/core_pattern", "utf8")
    const { outcome } = await run(
      `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/domainname /proc/sys/vm/swappiness /proc/sysrq-trigger; do
         if [ -e $f ]; then { cat $f > ${root}/value; cat ${root}/value > $f; } 2>/dev/null && echo "wrote $f"; fi; done
       mount -o remount,rw /proc/sys 2>/dev/null && echo remounted
       for f in /proc/kcore /proc/keys /proc/kmsg; do head -c 1 $f 2>/dev/null; done | wc -c`,
    )
    expect(outcome.stdout.text).toBe("0\n")
    expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before)
  })

  test("takes no more memory, and writes no longer file, than its limits say", async () => {
    const limits = { processes: 64, memoryMb: 300, fileMb: 8 }
    const plan = { root, writable: true, limits }
    const eater = await run("", {
      argv: ["python3", "-c", "x = bytearray(600 * 1024 * 1024); print('ate', len(x))"],
      plan,
    })
    expect(eater.outcome.stdout.text).not.toContain("ate")
    expect(eater.sandbox.memory_limit_mb).toBe(300)
    await run("head -c 20000000 /dev/zero > long; head -c 400000000 /dev/zero > /tmp/long; ls /tmp", { plan })
    expect(statSync(join(root, "long")).size).toBeLessThanOrEqual(8 * 1024 * 1024)
    rmSync(join(root, "long"))
  })

  test("sees system folders, its own processes and an empty /tmp, and no parent's environment", async () => {
    const theirs = join(tmpdir(), `toolwright-theirs-${process.pid}`)
    writeFileSync(theirs, "SECRET")
    try {
      const { outcome } = await run(
        `ls ${theirs} ${homedir()}/.npmrc; ls /usr/bin/env; touch /tmp/mine && ls /tmp/mine; cat /proc/*/environ | tr '\\0' '\\n'`,
        { env: { ...childEnvironment(), OWN_MARK: "1" } },
      )
      expect(outcome.stdout.text).toMatch(/^\/usr\/bin\/env\n\/tmp\/mine\n/u)
      expect(outcome.stdout.text).not.toContain("VITEST")
      expect(existsSync("/tmp/mine")).toBe(false)
    } finally {
      rmSync(theirs)
    }
  })

  test("has a folder of its own for temporary files, wherever the user's lies", async () => {
    const elsewhere = { TMPDIR: "/var/tmp/elsewhere", TMP: "/nowhere", TEMP: join(root, "missing") }
    const { outcome } = await run('mktemp; mktemp -d; : > "$TMP/one" && : > "$TEMP/two" && echo both', {
      env: { ...childEnvironment(), ...elsewhere },
    })
    expect(outcome.stderr.text).toBe("")
    expect(outcome.stdout.text).toMatch(/^\/tmp\/\S+\n\/tmp\/\S+\nboth\n$/u)
    expect((await run("echo ${TMPDIR-unset}", { env: { PATH: process.env.PATH! } })).outcome.stdout.text).toBe(
      "unset\n",
    )
  })

  test("is ended when it makes more files, or writes more, than its limits say", async () => {
    const plan = { root, writable: true, limits: { files: 3000, diskMb: 40 } }
    const many = "mkdir -p many && cd many && i=0; while [ $i -lt 400000 ]; do : > f$i; i=$((i+1)); done; echo finished"
    const { outcome } = await run(many, { plan, timeoutMs: 60_000 })
    expect(outcome).toMatchObject({ ended: "disk-limit", exitCode: null })
    expect(readdirSync(join(root, "many")).length).toBeLessThan(200_000)
    const wide =
      "for i in 1 2 3 4 5 6 7 8 9; do head -c 30000000 /dev/zero > wide$i; sync; sleep 0.2; done; echo finished"
    expect((await run(wide, { plan, timeoutMs: 60_000 })).outcome.ended).toBe("disk-limit")
    expect((await run("echo x > few", { plan })).outcome.ended).toBe("exit")
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true })
  })

  test("keeps what is pinned in its place", async () => {
    mkdirSync(join(root, "pinned/below"), { recursive: true })
    const plan = { root, writable: true, pinned: [{ path: join(root, "pinned"), writable: true }] }
    const { outcome } = await run("mv pinned gone || rm -rf pinned; echo x > pinned/file; ls", { plan })
    expect(outcome.stderr.text).toMatch(/busy/u)
    expect(readdirSync(root)).toContain("pinned")
    expect(existsSync(join(root, "pinned/file"))).toBe(true)
  })

  test("keeps what is protected", async () => {
    mkdirSync(join(root, ".git/hooks"), { recursive: true })
    writeFileSync(join(root, ".git/config"), "[core]\n")
    const { outcome } = await run(
      "echo evil >> .git/config; echo evil > .git/hooks/pre-commit; mv .git/config x; echo ok > .git/HEAD",
      {
        protect: [".git/config", ".git/hooks"],
      },
    )
    expect(outcome.stderr.text).toMatch(/Read-only|busy/u)
    expect(readdirSync(join(root, ".git/hooks"))).toEqual([])
    expect(existsSync(join(root, ".git/HEAD"))).toBe(true)
  })

  test("ends a grandchild that left session and process group", async () => {
    const { outcome } = await run(
      `setsid sh -c 'env -i setsid sleep ${MARK}1' >/dev/null 2>&1 & sleep 0.2; echo started`,
    )
    expect(outcome.stdout.text).toBe("started\n")
    await untilGone(`${MARK}1`)
  })

  test("ends it when the call is cancelled", async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 200)
    const { outcome } = await run(`trap '' TERM; setsid sleep ${MARK}2 & sleep ${MARK}3`, { signal: controller.signal })
    expect(outcome.ended).toBe("cancelled")
    for (const mark of [`${MARK}2`, `${MARK}3`]) await untilGone(mark)
  })

  test("survives a fork bomb", async ({ skip }) => {
    const { sandbox } = await run("true")
    if (sandbox.process_limit === null) skip("nothing limits the number of processes here")
    const { outcome } = await run("bomb() { bomb | bomb & }; bomb; sleep 3", {
      timeoutMs: 600,
      graceMs: 100,
      maxProcesses: 24,
    })
    expect(outcome.stderr.text + outcome.ended).toMatch(/fork|timeout/iu)
    const after = await run("echo alive")
    expect(after.outcome.stdout.text).toBe("alive\n")
  })

  test("says so when a program is not there", async () => {
    const { outcome } = await run("", { argv: ["no-such-program"] })
    expect(outcome.exitCode).toBe(127)
    expect(outcome.stderr.text).toContain("no-such-program")
  })
})

describe("without a sandbox", () => {
  test("runs and says loudly that nothing contained the command", async () => {
    const { outcome, sandbox } = await runSandboxed({
      argv: ["echo", "hello"],
      cwd: root,
      env: childEnvironment(),
      timeoutMs: 60_000,
      policy: "off",
      plan: { root },
    })
    expect(outcome.stdout.text).toBe("hello\n")
    expect(sandbox).toMatchObject({ kind: "none", filesystem: "unrestricted", reason: "switched off by configuration" })
    expect(sandboxNotice(sandbox)).toMatch(/WITHOUT a sandbox/u)
  })

  test.skipIf(process.platform !== "linux")(
    "shows a command none of the keys that this process was started with",
    () => {
      const script = join(folder, "host.ts")
      const sandbox = join(import.meta.dirname, "sandbox.ts")
      writeFileSync(
        script,
        `import { runSandboxed } from ${JSON.stringify(sandbox)}
       const { outcome } = await runSandboxed({
         argv: ["sh", "-c", "cat /proc/$PPID/environ; cat /proc/" + process.pid + "/environ"],
         cwd: "/", env: { PATH: process.env.PATH! }, timeoutMs: 60_000, policy: "off", plan: { root: "/" },
       })
       const again = process.env.SOME_API_KEY + (await import("node:child_process")).execFileSync("env").toString()
       console.log(JSON.stringify([outcome.stdout.text, again.match(/CANARY-1/g).length]))`,
      )
      const said = execFileSync(process.execPath, ["--conditions=toolwright-source", script], {
        encoding: "utf8",
        env: { PATH: process.env.PATH, LANG: "C", SOME_API_KEY: "CANARY-1" },
      })
      const [seen, own] = JSON.parse(said) as [string, number]
      expect(seen).toContain("LANG=C")
      expect(seen).not.toContain("CANARY")
      // The process itself has it still, and so have children that it hands it to.
      expect(own).toBe(2)
    },
  )

  test.skipIf(process.getuid?.() !== 0)(
    "ends what left session, group and environment, where there are control groups",
    async () => {
      const { sandbox } = await runSandboxed({
        argv: ["sh", "-c", `setsid env -i setsid sleep ${MARK}4 >/dev/null 2>&1 & sleep 0.3; echo started`],
        cwd: root,
        env: childEnvironment(),
        timeoutMs: 60_000,
        policy: "off",
        plan: { root },
      })
      if (sandbox.process_limit === null) return
      await untilGone(`${MARK}4`)
    },
  )

  test("names the reason when a sandbox is required", () => {
    expect(sandboxMissing("bubblewrap (bwrap) is not installed").message).toContain(
      "no sandbox: bubblewrap (bwrap) is not installed.",
    )
  })
})
