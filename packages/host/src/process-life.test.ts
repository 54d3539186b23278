import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { expect, onTestFinished, test, vi } from "vitest"
import { isAlive } from "./process-life.ts"

test.skipIf(process.platform !== "linux")(
  "a process that was killed runs no more, also while nobody has asked how it ended",
  async () => {
    // The shell becomes a program that never asks for its child.
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "ignore"] })
    onTestFinished(() => void parent.kill("SIGKILL"))
    const pid = Number(await new Promise((resolve) => parent.stdout.once("data", (text) => resolve(String(text)))))
    await vi.waitFor(() => expect(readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n"))
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, "SIGKILL")
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z "))
    expect(isAlive(pid)).toBe(false)
    expect(isAlive(process.pid)).toBe(true)
  },
)
