import { readFileSync } from "node:fs"
import { expect, expectTypeOf, test } from "vitest"
import type {
  AgentAccess,
  AskedCall,
  BranchOptions,
  ChooseReading,
  Reading,
  TaskAccess,
  ToolDefinition,
  ToolEffects,
  Toolwright,
  ToolwrightOptions,
} from "./index.ts"
import { folderWith } from "./testing/run-cli.ts"

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  exports: Record<string, { "toolwright-source": string }>
}
const subpaths = Object.keys(manifest.exports).filter((path) => path !== ".")
const load = (path: string) =>
  import(manifest.exports[path]!["toolwright-source"].replace("./src/", "./")) as Promise<object>

/** Every name that `toolwright` gives at run time. One more is a decision: it stays for as long as the package. */
const NAMES = [
  "DynamicExecutor",
  "ERROR_CODES",
  "FileOwningAgent",
  "PROFILES",
  "SETTINGS",
  "ToolRegistry",
  "ToolsApiClient",
  "ToolwrightError",
  "attachSource",
  "configurationSchema",
  "createOpenAICompatibleBackend",
  "createResultCache",
  "createScriptedBackend",
  "createToolwright",
  "defaultConfiguration",
  "defineTool",
  "detectCapabilities",
  "executeCall",
  "failure",
  "grammar",
  "infer",
  "isOf",
  "listRuns",
  "loadConfiguration",
  "loadScreenplay",
  "messageOf",
  "newRunId",
  "openLlamaBackend",
  "openPocket",
  "parseScreenplay",
  "profileNamed",
  "readRun",
  "recordBackend",
  "recordRun",
  "serializeTool",
  "serveBackend",
  "startTaskWorker",
  "success",
  "trustStore",
]

test("toolwright gives the names that are listed, some forty at most", async () => {
  expect(Object.keys(await import("./index.ts")).toSorted()).toEqual(NAMES.toSorted())
  expect(NAMES.length).toBeLessThanOrEqual(45)
})

/** Every type, likewise: those that a program writes down because a function or an option of these asks for them. */
const TYPES = [
  "AgentAccess",
  "AgentProfile",
  "AgentToMake",
  "AgentView",
  "ApprovalAccess",
  "AskedCall",
  "AttachOptions",
  "AttachedSource",
  "Backend",
  "BranchOptions",
  "CallLimits",
  "CapabilityProbe",
  "CapabilityReport",
  "ChatMessage",
  "CheckedCall",
  "CheckedPlan",
  "ChooseReading",
  "Command",
  "CommandEntry",
  "Configuration",
  "ConfigurationInputs",
  "DataOf",
  "ErrorCode",
  "EventOfTool",
  "ExecuteOptions",
  "FailureParts",
  "GivenAnswer",
  "InterruptedCall",
  "Invocation",
  "JsonObject",
  "JsonSchema",
  "ListedPrompt",
  "LoadedConfiguration",
  "LogAccess",
  "Middleware",
  "NextStep",
  "Optionality",
  "Output",
  "OutputSchema",
  "OutputSummary",
  "Pairing",
  "PartialConfiguration",
  "Permission",
  "PermissionPolicy",
  "PermissionRule",
  "PlanAccess",
  "PlanView",
  "Reading",
  "Reconciled",
  "RecordedRun",
  "RecordedUndo",
  "RegistryListener",
  "RenderedPrompt",
  "ResultCache",
  "ResultCacheOptions",
  "ResumeOptions",
  "RoleOfCall",
  "RuledAs",
  "RunEvent",
  "RunEventOf",
  "RunHead",
  "RunOptions",
  "RunOutcome",
  "RunRequest",
  "RunSummary",
  "Screenplay",
  "Setting",
  "StandardSchema",
  "SuccessParts",
  "TaskAccess",
  "TaskMedia",
  "TaskWorkerOptions",
  "TextInput",
  "ToolAction",
  "ToolAliases",
  "ToolBundle",
  "ToolCategory",
  "ToolContext",
  "ToolDefinition",
  "ToolEffects",
  "ToolError",
  "ToolEvent",
  "ToolExample",
  "ToolFailure",
  "ToolHandler",
  "ToolHost",
  "ToolProvenance",
  "ToolResult",
  "ToolRole",
  "ToolSource",
  "ToolSpecification",
  "ToolSuccess",
  "ToolsApiClientOptions",
  "Toolset",
  "Toolwright",
  "ToolwrightOptions",
  "TrustState",
  "TrustStore",
  "TypedTool",
  "ViewOptions",
  "WorkRole",
  "WorkWatch",
]

test("toolwright gives the types that are listed", () => {
  const source = readFileSync(new URL("./index.ts", import.meta.url), "utf8")
  const names = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all, list]) =>
    list!
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "" && (all !== undefined || one.startsWith("type ")))
      .map((one) => one.replace(/^type /, "")),
  )
  expect(names.toSorted()).toEqual(TYPES.toSorted())
})

test("what a program is asked with, and what it is given, can be written down by name", () => {
  const approve = async ({ tool, arguments: args }: AskedCall): Promise<boolean | string> =>
    tool.effects?.readOnly === true || `not ${tool.name} ${JSON.stringify(args)}`
  const choose: ChooseReading = async ({ readings }) => readings.findIndex(({ name }: Reading) => name === "read")
  const options: ToolwrightOptions = { approve, choose }
  expect(Object.keys(options)).toEqual(["approve", "choose"])
  expectTypeOf<Toolwright["tasks"]>().toEqualTypeOf<TaskAccess>()
  expectTypeOf<Toolwright["agents"]>().toEqualTypeOf<AgentAccess>()
  expectTypeOf<Parameters<Toolwright["branch"]>[1]>().toEqualTypeOf<BranchOptions>()
  expectTypeOf<NonNullable<ToolDefinition["effects"]>>().toEqualTypeOf<ToolEffects>()
})

test.each(subpaths)("toolwright/%s gives something", async (path) => {
  expect(Object.keys(await load(path)).length).toBeGreaterThan(0)
})

test("a program of one's own serves what 'serve' does, by one call", async () => {
  const { serveToolwright } = await import("./exports/serve.ts")
  const { createToolwright } = await import("./index.ts")
  const cwd = folderWith({ "a.txt": "hello" })
  await using toolwright = await createToolwright({ cwd, builtins: {}, workspace: { readOnly: ["."] } })
  await using served = await serveToolwright(toolwright, { port: 0, mcp: true })
  expect(served.model).toBeUndefined()
  expect(served.offered).toContain("read_text_file")
  const response = await fetch(`${served.url}/tools/read_text_file`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ path: "a.txt" }),
  })
  expect(await response.json()).toMatchObject({ success: true })
})

test("what 'serve' is made of can be reached", async () => {
  const [server, mcp, prompts, store] = await Promise.all(["./server", "./mcp", "./prompts", "./store"].map(load))
  expect(server).toMatchObject({
    createApp: expect.any(Function),
    listen: expect.any(Function),
    gatewayRoutes: expect.any(Function),
    conversationRoutes: expect.any(Function),
  })
  expect(mcp).toMatchObject({ mcpOverHttp: expect.any(Function), mcpOverStdio: expect.any(Function) })
  expect(prompts).toMatchObject({ loadPrompts: expect.any(Function) })
  expect(store).toMatchObject({ conversationStore: expect.any(Function), openDatabase: expect.any(Function) })
})

test("a name means one thing: what stands in the root is the same in its subpath", async () => {
  const own = Object.entries(await import("./index.ts"))
  for (const path of subpaths) {
    const other = (await load(path)) as Record<string, unknown>
    for (const [name, value] of own) if (name in other) expect(other[name], `${path} ${name}`).toBe(value)
  }
})
