import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { formatterById, getFormatter, listFormats, selectFormat } from "../index.ts"
import { recogniseTemplate } from "./index.ts"

const TEMPLATES = new URL("../../../../../shared/data/templates/", import.meta.url)

describe("the format for a model", () => {
  it.each([
    ["Llama-3.1-8B-Instruct", "llama3"],
    ["llama3.2:3b", "llama3"],
    ["meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4"],
    ["qwen2.5-coder:7b", "qwen2.5"],
    ["Qwen/Qwen3-0.6B", "qwen2.5"],
    ["qwen3-coder:30b", "qwen3-xml"],
    ["Qwen3.5-4B-Q4_K_M.gguf", "qwen3-xml"],
    ["mistral:7b-instruct", "mistral"],
    ["mixtral-8x7b", "mistral"],
    ["Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-3.2"],
    ["unsloth/Devstral-Small-2507-GGUF", "mistral-v11"],
    ["nous-hermes2", "hermes"],
    ["NousResearch/Hermes-3-Llama-3.1-8B", "hermes"],
    ["/models/hermes-3-llama-3.1-8b.Q5_K_M.gguf", "hermes"],
    ["C:\\models\\DeepSeek-R1-Distill-Qwen-32B.Q8_0.gguf", "deepseek-v3"],
    ["deepseek-v3.1:671b", "deepseek-v31"],
    ["claude-sonnet-4-5", "claude"],
    ["openai/gpt-oss-120b", "harmony"],
    ["gpt-4o-mini", "openai"],
    ["nvidia/NVIDIA-Nemotron-Nano-9B-v2", "nemotron-v2"],
    ["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3-xml"],
    ["ibm-granite/granite-4.0-h-small", "granite4"],
    ["granite3.3:8b", "granite3"],
    ["zai-org/GLM-4.6", "glm45"],
    ["GLM-4.7-Flash", "glm47"],
    ["c4ai-command-r7b-12-2024", "command-r7b"],
    ["c4ai-command-r-plus", "command-r"],
    ["moonshotai/Kimi-K2-Thinking", "kimi-k2"],
    ["swiss-ai/Apertus-8B-Instruct-2509", "apertus"],
    ["LGAI-EXAONE/EXAONE-4.0-32B", "hermes"],
    ["llama3-groq-tool-use:8b", "hermes"],
    ["inclusionAI/Ling-mini-2.0", "hermes"],
    ["inclusionAI/Ring-1T", "hermes"],
    ["inclusionAI/Ling-3", "glm45"],
    ["skt/A.X-4.0-Light", "hermes"],
    ["t-tech/T-pro-it-2.0-GGUF:Q4_K_M", "hermes"],
    ["Menlo/Jan-nano", "hermes"],
    ["XiaomiMiMo/MiMo-7B-RL", "hermes"],
    ["XiaomiMiMo/MiMo-V2-Flash", "qwen3-xml"],
    ["Kwaipilot/KAT-Dev", "qwen3-xml"],
    ["nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "nemotron-v2"],
    ["nvidia/Llama-3.1-Nemotron-70B-Instruct", "llama3"],
    ["mistralai/Mistral-Small-4-119B-2603", "mistral-v11"],
    ["DeepSeek_V3_1.gguf", "deepseek-v31"],
    ["deepseek-ai/DeepSeek-V3-1226", "deepseek-v3"],
    ["openai/o4-mini", "openai"],
    ["some-unknown-model", "generic"],
    ["", "generic"],
  ])("%s is %s", (name, id) => {
    expect(getFormatter(name).id).toBe(id)
  })

  it("can be set, and says so", () => {
    expect(getFormatter("Hermes-3-Llama-3.1-8B", { format: "llama3.1" }).id).toBe("llama3")
    expect(selectFormat("x", { format: "nous" })).toMatchObject({
      format: { id: "hermes" },
      because: "The setting says 'nous'.",
    })
    expect(selectFormat("Qwen2.5-7B").because).toContain("contains 'qwen'")
    expect(selectFormat("x").because).toContain("Nothing is known about 'x'")
  })

  it("is the API's where the backend has tools of its own", () => {
    expect(getFormatter("qwen2.5", { backend: "openai" }).id).toBe("openai")
    expect(getFormatter("some-model", { backend: "anthropic" }).id).toBe("claude")
    expect(getFormatter("qwen2.5", { backend: "text" }).id).toBe("qwen2.5")
  })

  it("is named by its chat template before its name", () => {
    expect(
      selectFormat("my-finetune", { template: "…{{ '<function=' + name + '>' }}<tool_call>…<parameter=" }),
    ).toMatchObject({ format: { id: "qwen3-xml" } })
  })

  it("is not guessed when a setting names none", () => {
    expect(() => formatterById("qwen2.6")).toThrowError(
      expect.objectContaining({ code: "UNKNOWN_FORMAT", hint: expect.stringContaining("qwen2.5") }),
    )
  })

  it("has ids and aliases that are each used once", () => {
    const names = listFormats().flatMap((format) => [format.id, ...format.aliases])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

/** Templates whose name names another format than their marks do, for a reason. */
const OTHERWISE: Record<string, string> = {
  // Qwen 3 writes the marks of Hermes, word for word
  "Qwen-Qwen3-0.6B.jinja": "hermes",
  // tags and values are joined in the template, so where line breaks stand cannot be seen
  "poolside-Laguna-S-2.1.jinja": "glm45",
  // written by a server for a model that was trained on something else
  "vllm/tool_chat_template_llama3.2_pythonic.jinja": "pythonic",
  // no dot in the file's name
  "ollama/qwen38_chat_template.jinja": "qwen3-xml",
}

describe.skipIf(!existsSync(TEMPLATES))("official chat templates (skipped without ../shared/data)", () => {
  const files = existsSync(TEMPLATES)
    ? ["", "vllm/", "ollama/"]
        .flatMap((folder) => readdirSync(new URL(folder, TEMPLATES)).map((file) => folder + file))
        .filter((file) => file.includes(".jinja"))
    : []

  it("are recognised by their marks as what their names say", () => {
    const recognised = files.flatMap((file) => {
      const found = recogniseTemplate(readFileSync(new URL(file, TEMPLATES), "utf8"))
      return found === undefined ? [] : [[file, found.formatId]]
    })
    expect(recognised.length).toBeGreaterThan(85)
    expect(Object.fromEntries(recognised)).toEqual(
      Object.fromEntries(recognised.map(([file = ""]) => [file, OTHERWISE[file] ?? selectFormat(file).format.id])),
    )
  })
})
