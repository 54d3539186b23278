import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"

const ROOT = join(import.meta.dirname, "../../..")
const read = (path: string): string => readFileSync(join(ROOT, "docker", path), "utf8")
const dockerfile = read("Dockerfile")
const compose = readFileSync(join(ROOT, "compose.yaml"), "utf8")

/** The variables that the image sets, with its folders put below another one. */
function variablesBelow(folder: string): Record<string, string> {
  const [, line] = /^ENV (BASE_REPOS_PATH=.*)$/m.exec(dockerfile)!
  return Object.fromEntries(
    line!.split(" ").map((each): [string, string] => [each.split("=")[0]!, folder + each.split("=")[1]!]),
  )
}

/** What the image runs, with the image's folders put below another one. */
function commandBelow(folder: string): string[] {
  const list = (name: string): string[] =>
    JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, "m").exec(dockerfile)![1]!) as string[]
  const [, program, ...fixed] = list("ENTRYPOINT")
  return [join(ROOT, program!), ...fixed, ...list("CMD")].map((word) =>
    /^\/(mnt|data)/.test(word) ? folder + word : word === "8001" ? "0" : word === "0.0.0.0" ? "127.0.0.1" : word,
  )
}

test("the image's command serves its mounts, its health check finds it, and it answers only with the token", async () => {
  const folder = mkdtempSync(join(tmpdir(), "docker-"))
  for (const mount of ["mnt/repos", "mnt/downloads", "mnt/playbooks", "data"])
    mkdirSync(join(folder, mount), { recursive: true })
  writeFileSync(join(folder, "mnt/repos/a.txt"), "one\n")
  writeFileSync(join(folder, "mnt/playbooks/hello.yaml"), "name: hello\ndescription: Says hello\ntemplate: Hello.\n")
  const child = spawn(process.execPath, commandBelow(folder), {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, TOOLWRIGHT_TOKEN: "secret-token", ...variablesBelow(folder) },
    stdio: ["ignore", "pipe", "ignore"],
  })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = ""
      child.once("exit", (code) => reject(new Error(`it ended with ${code}`)))
      child.stdout.on("data", (piece) => {
        const found = /at (http:\S+)\s/.exec((text += String(piece)))
        if (found !== null) resolve(found[1]!)
      })
    })
    const [, check] = /^ {2}CMD node -e "(.+)"$/m.exec(dockerfile)!
    execFileSync(process.execPath, ["-e", check!.replace("http://127.0.0.1:8001", url)])
    const call = (
      tool: string,
      args: object,
      headers: Record<string, string>,
    ): Promise<{ status: number; body: Record<string, unknown> }> =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          `${url}/tools/${tool}`,
          { method: "POST", headers: { "content-type": "application/json", ...headers } },
          async (response) => {
            let text = ""
            for await (const piece of response) text += String(piece)
            resolve({ status: response.statusCode!, body: JSON.parse(text) as Record<string, unknown> })
          },
        )
        outgoing.once("error", reject)
        outgoing.end(JSON.stringify(args))
      })
    const token = { authorization: "Bearer secret-token", host: "tools-api:8001" }
    const path = join(folder, "mnt/repos/a.txt")
    expect((await call("read_text_file", { path }, token)).body).toMatchObject({
      success: true,
      result: { content: "one\n" },
    })
    expect((await call("write_file", { path, content: "x" }, token)).body).toMatchObject({ success: false })
    expect((await call("read_text_file", { path }, { host: "tools-api:8001" })).status).toBe(401)
    expect((await call("read_text_file", { path }, { ...token, host: "elsewhere" })).status).toBe(403)
    expect(
      await (await fetch(`${url}/prompts/`, { headers: { authorization: token.authorization } })).text(),
    ).toContain('"hello"')
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
})

test("the composition names the service, its port, its read-only mounts and its network, and takes away what it does not need", () => {
  const { services, networks } = parse(compose, { merge: true }) as {
    services: Record<string, Record<string, unknown>>
    networks: object
  }
  const api = services["tools-api"]!
  expect(api).toMatchObject({
    container_name: "tools-api",
    ports: ["8001:8001"],
    restart: "unless-stopped",
    networks: ["reasoning-network"],
    read_only: true,
    cap_drop: ["ALL"],
  })
  expect(Object.keys(networks)).toEqual(["reasoning-network"])
  const mounts = (api["volumes"] as string[]).map((volume) => volume.replace(/^.*?(:\/)/, "/"))
  expect(mounts).toEqual(["/mnt/repos:ro", "/mnt/downloads:ro", "/mnt/playbooks:ro", "/data", "/service"])
  expect(api["environment"]).toMatchObject({
    BASE_REPOS_PATH: "/mnt/repos",
    BASE_DOWNLOADS_PATH: "/mnt/downloads",
    PLAYBOOKS_PATH: "/mnt/playbooks",
  })
  const reasoning = services["reasoning-api"]!
  expect(reasoning).toMatchObject({
    networks: ["reasoning-network"],
    restart: "unless-stopped",
    depends_on: { "tools-api": { condition: "service_healthy" } },
    environment: { TOOLS_API_URL: "tools-api=http://tools-api:8001" },
    cap_drop: ["ALL"],
  })
  // Nothing has to be set before the first start.
  expect(compose).not.toMatch(/\$\{\w+:\?/)
  expect(dockerfile).toMatch(/^FROM node:\d+-slim$/m)
  expect(dockerfile).toMatch(/^USER node$/m)
})
