import type { ServerResponse } from "node:http"
import { afterEach, describe, expect, it } from "vitest"
import { createNetworkHost } from "@toolwright/host/net"
import { callTool } from "@toolwright/host/testing/call-tool"
import { json, startLoopback, type Answer, type LoopbackServer } from "@toolwright/host/testing/loopback-server"
import { createPullRequestTool, type GithubConfig } from "./pull-request.ts"
import { parsePullRequestUrl } from "./target.ts"

let server: LoopbackServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const PULL = {
  number: 12,
  html_url: "https://github.com/acme/widgets/pull/12",
  title: "Fix \u001b[31mthe\u001b[0m mean",
  state: "open",
  merged: false,
  draft: true,
  user: { login: "ada" },
  body: "Off by one.\u202e",
  base: { ref: "main" },
  head: { label: "ada:fix", ref: "fix", sha: "abc123" },
  labels: [{ name: "bug" }],
  created_at: "2026-11-01T10:00:00Z",
  updated_at: "2026-11-02T10:00:00Z",
  merged_at: null,
  mergeable: true,
  commits: 2,
  additions: 5,
  deletions: 1,
  changed_files: 250,
}
const file = (index: number) => ({
  filename: `src/f${index}.ts`,
  status: "modified",
  additions: 1,
  deletions: 0,
  patch: "@@ -1 +1 @@\n+x",
})

/** Answers as GitHub's REST API does: pages of files with Link headers, entity tags, a rate limit in every answer. */
function github(fileCount = 250): Answer {
  return ({ url, headers }, response) => {
    const limits = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59", "x-ratelimit-reset": "1790000000" }
    if (headers["user-agent"] === undefined)
      return json(response, 403, { message: "Request forbidden by administrative rules." })
    if (url.pathname === "/repos/acme/widgets/pulls/12") {
      if (headers["if-none-match"] === '"pull-1"') return void response.writeHead(304, limits).end()
      return json(response, 200, PULL, { ...limits, etag: '"pull-1"' })
    }
    if (url.pathname === "/repos/acme/widgets/pulls/12/files") {
      const perPage = Number(url.searchParams.get("per_page"))
      const page = Number(url.searchParams.get("page") ?? 1)
      const files = Array.from(
        { length: Math.max(0, Math.min(perPage, fileCount - (page - 1) * perPage)) },
        (_, index) => file((page - 1) * perPage + index),
      )
      const next = `<http://${headers.host}${url.pathname}?per_page=${perPage}&page=${page + 1}>; rel="next"`
      return json(
        response,
        200,
        files,
        page * perPage < fileCount ? { ...limits, link: `${next}, <x>; rel="last"` } : limits,
      )
    }
    json(response, 404, { message: "Not Found", documentation_url: "https://docs.github.com/rest" }, limits)
  }
}

async function tool(answer: Answer, config: GithubConfig = {}, env: Record<string, string> = {}, totalMs = 20_000) {
  server = await startLoopback(answer)
  return createPullRequestTool(createNetworkHost({ totalMs }, env), { apiUrl: server.origin, ...config })
}

const ARGS = { url: "https://github.com/acme/widgets/pull/12" }

describe("get_github_pull_request_info", () => {
  it("gives title, state, branches and every page of files, and sends the token", async () => {
    const result = await callTool(await tool(github(), {}, { GITHUB_TOKEN: "ghp_canary" }), ARGS)
    expect(result.metadata.untrusted, "is said to be of others").toBe(true)
    expect(result.data).toMatchObject({
      owner: "acme",
      repo: "widgets",
      number: 12,
      title: "Fix the mean",
      state: "open",
      draft: true,
      merged: false,
      author: "ada",
      base: "main",
      head: "ada:fix",
      body: "Off by one.",
      labels: ["bug"],
      files_truncated: false,
    })
    const { files } = result.data as { files: { filename: string; patch?: string }[] }
    expect(files.map(({ filename }) => filename)).toEqual(Array.from({ length: 250 }, (_, index) => `src/f${index}.ts`))
    expect(files[0]?.patch).toBeUndefined()
    expect(server?.requests.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill("token ghp_canary"))
    expect(result.output).toContain("… and 150 more")
    expect(JSON.stringify(result)).not.toContain("ghp_canary")
  })

  it("takes owner, repo and number, stops at max_files and says so", async () => {
    const result = await callTool(await tool(github()), {
      owner: "acme",
      repo: "widgets",
      number: 12,
      max_files: 120,
      include_patches: true,
    })
    const { files, files_truncated } = result.data as { files: { patch: string }[]; files_truncated: boolean }
    expect([files.length, files_truncated, files[0]?.patch]).toEqual([120, true, "@@ -1 +1 @@\n+x"])
    expect(server?.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  it("asks again with the entity tag and answers a 304 from memory", async () => {
    const reader = await tool(github(1))
    const first = await callTool(reader, { ...ARGS, include_files: false })
    const second = await callTool(reader, { ...ARGS, include_files: false })
    expect(server?.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"pull-1"'])
    expect(second.data).toEqual(first.data)
  })

  const refusals: [string, (response: ServerResponse) => void, string, RegExp][] = [
    [
      "a used-up rate limit",
      (response) =>
        json(
          response,
          403,
          { message: "API rate limit exceeded for 192.0.2.1." },
          { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1890000000" },
        ),
      "RATE_LIMITED",
      /resets at 2029-11-22T00:00:00\.000Z/,
    ],
    [
      "a secondary rate limit",
      (response) =>
        json(response, 429, { message: "You have exceeded a secondary rate limit." }, { "retry-after": "30" }),
      "RATE_LIMITED",
      /in 30 s/,
    ],
    [
      "a forbidden repository",
      (response) =>
        json(
          response,
          403,
          { message: "Resource not accessible by personal access token" },
          { "x-ratelimit-remaining": "4999" },
        ),
      "ACCESS_DENIED",
      /not accessible/,
    ],
    [
      "a wrong token",
      (response) => json(response, 401, { message: "Bad credentials" }),
      "UNAUTHORIZED",
      /Bad credentials/,
    ],
    ["a missing pull request", (response) => json(response, 404, { message: "Not Found" }), "NOT_FOUND", /private/],
    [
      "a broken service",
      (response) => void response.writeHead(502).end("<html>Bad gateway</html>"),
      "SERVICE_FAILED",
      /502/,
    ],
    ["no JSON", (response) => void response.end("<html>"), "INVALID_RESPONSE", /no JSON/],
    [
      "an answer cut off",
      (response) =>
        void response.writeHead(200, { "content-length": "500" }).write('{"title":', () => response.destroy()),
      "RESPONSE_CUT_OFF",
      /middle/,
    ],
    ["silence", () => {}, "TIMEOUT", /300 ms/],
    [
      "an endless answer",
      (response) => {
        const push = () => {
          while (!response.destroyed && response.write(Buffer.alloc(1 << 20, 32)));
          response.once("drain", push)
        }
        push()
      },
      "RESPONSE_TOO_LARGE",
      /larger/,
    ],
  ]
  it.each(refusals)("reports %s in its own way", async (name, answer, code, message) => {
    const result = await callTool(
      await tool((_request, response) => answer(response), {}, {}, name === "silence" ? 300 : 20_000),
      ARGS,
    )
    expect(result.error?.code).toBe(code)
    expect(result.error?.message).toMatch(message)
  })

  it("reports a rate limit that runs out between pages", async () => {
    const whole = github()
    const reader = await tool((request, response) =>
      request.url.searchParams.get("page") === "2"
        ? json(
            response,
            403,
            { message: "API rate limit exceeded" },
            { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1890000000" },
          )
        : whole(request, response),
    )
    expect((await callTool(reader, ARGS)).error).toMatchObject({
      code: "RATE_LIMITED",
      retryable: true,
      details: { resetAt: "2029-11-22T00:00:00.000Z" },
    })
  })

  it("does not follow a next page to another server", async () => {
    const reader = await tool(({ url }, response) =>
      url.pathname.endsWith("/files")
        ? json(response, 200, [file(0)], { link: '<http://169.254.169.254/latest>; rel="next"' })
        : json(response, 200, { ...PULL, changed_files: 1 }),
    )
    expect((await callTool(reader, ARGS)).data).toMatchObject({ files: [{ filename: "src/f0.ts" }] })
  })

  it.each([
    [{ url: "https://gitlab.com/acme/widgets/pull/12" }, /leads to gitlab.com/],
    [{ url: "https://github.com/acme/widgets/issues/12" }, /no pull request's address/],
    [{ url: "acme/widgets" }, /no URL/],
    [{ url: "https://github.com/acme/../pull/1" }, /no pull request's address|no GitHub/],
    [{ owner: "acme", repo: "a/../../b", number: 1 }, /no GitHub repository/],
    [{ owner: "acme" }, /no GitHub repository/],
    [{}, /Neither/],
  ])("answers %j with what a right call looks like", async (args, message) => {
    const result = await callTool(await tool(github()), args)
    expect(result.error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringMatching(message),
      hint: expect.stringContaining("/owner/repo/pull/12"),
    })
    expect(server?.requests).toHaveLength(0)
  })

  it("runs its own examples", async () => {
    const reader = await tool(({ url, headers }, response) => {
      const answer = github(1)
      return answer(
        {
          url: new URL(url.href.replace("octocat/hello-world/pulls/1347", "acme/widgets/pulls/12")),
          headers,
          method: "GET",
          body: "",
        },
        response,
      )
    })
    for (const { input } of reader.examples ?? [])
      expect(await callTool(reader, input)).toMatchObject({ success: true })
  })
})

describe("parsePullRequestUrl", () => {
  const hosts = new Set(["github.com"])
  it.each([
    "https://github.com/acme/widgets/pull/12",
    "https://github.com/acme/widgets/pull/12/files#diff-1",
    "http://github.com/repos/acme/widgets/pulls/12?x=1",
    "acme/widgets#12",
  ])("understands %s", (text) => {
    expect(parsePullRequestUrl(text, hosts)).toEqual({ owner: "acme", repo: "widgets", number: 12 })
  })
})
