import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test, vi } from "vitest"
import { postgresBinaries, sharedPostgres } from "../../../tools-database/src/testing/postgres-server.ts"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const binaries = postgresBinaries()

async function model(): Promise<string[]> {
  const steps = [{ repeat: "always" as const, reply: "Done." }]
  const server = await serveBackend(createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps }))
  onTestFinished(server.close)
  return ["--model", "m", "--base-url", server.baseUrl]
}

/** A port of this machine on which nobody listens, until it is opened to another port. */
async function door(to: () => number): Promise<{ port: number; open(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket))
  }
  const server = createServer((incoming) => {
    const outgoing = keep(connect(to(), "127.0.0.1"))
    keep(incoming).pipe(outgoing).pipe(incoming)
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve()))
  await listen(0)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        if (server.listening) server.close(() => resolve())
        else resolve()
      }),
  )
  return { port, open: () => listen(port) }
}

test.skipIf(binaries === undefined)(
  "a worker that is started while its database is away says so, and works once it is there",
  async () => {
    await using postgres = await sharedPostgres(binaries!)
    const address = new URL(postgres.createDatabase())
    const cwd = folderWith({})
    await here(["tasks", "add", "say so", "--database", address.href], { cwd })
    const { port, open } = await door(() => Number(address.port))
    const through = new URL(address)
    through.port = String(port)
    const options = [...(await model()), "--database", through.href]

    const once = await here(["work", "--once", ...options], { cwd })
    expect(once).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be opened") })

    const worker = startCli(["work", ...options], { cwd })
    await worker.until(/cannot be opened.* It is tried again until it is there/)
    await open()
    await vi.waitFor(
      async () => {
        const { stdout } = await here(["tasks", "--json", "--database", address.href], { cwd })
        expect(stdout).toContain('"done"')
      },
      { timeout: 120_000, interval: 200 },
    )
    worker.child.kill("SIGTERM")
    expect((await worker.finished).stdout).toContain("The database is there.")
  },
)

test.skipIf(binaries === undefined)("one that waits for its database can be stopped", async () => {
  const { port } = await door(() => 0)
  const cwd = folderWith({})
  const worker = startCli(["work", ...(await model()), "--database", `postgres://me:secret-word@127.0.0.1:${port}/x`], {
    cwd,
  })
  await worker.until(/It is tried again/)
  worker.child.kill("SIGTERM")
  const { code, stdout, stderr } = await worker.finished
  expect(code).not.toBe(0)
  expect(stdout + stderr).not.toContain("secret-word")
})

test.skipIf(binaries === undefined)(
  "one whose password is wrong ends at once, since waiting does not mend that",
  async () => {
    await using postgres = await sharedPostgres(binaries!)
    const address = new URL(postgres.createDatabase())
    address.password = "wrong"
    const { code, stdout, stderr } = await here(["work", ...(await model()), "--database", address.href], {
      cwd: folderWith({}),
    })
    expect(code).toBe(1)
    expect(stderr).toContain("cannot be opened")
    expect(stdout).not.toContain("tried again")
  },
)
