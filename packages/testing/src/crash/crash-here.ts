import { subscribe } from "node:diagnostics_channel"

/** Loaded before a program by the variables of `crashAfter`: kills its process at an event of a run. */
const wanted = /^(before|after):(\d+)$/.exec(process.env["TOOLWRIGHT_CRASH"] ?? "")
// What this process starts is not to die too.
delete process.env["TOOLWRIGHT_CRASH"]

if (wanted !== null) {
  const [, moment, number] = wanted
  subscribe("toolwright:log-write", (told) => {
    const write = told as { moment: string; seq: number }
    if (write.moment !== moment || write.seq < Number(number)) return
    process.kill(process.pid, "SIGKILL")
    // Nothing more is done in what is left of the process.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
}
