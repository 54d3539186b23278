import { leavesMachine } from "./address.ts"
import { typed, type Setting } from "./setting.ts"

/** What a million tokens cost, in whatever unit budgets are given in. */
export interface ModelPrice {
  input: number
  output: number
}

/** The settings of the model, and of how it is asked. */
export const MODEL_SETTINGS = [
  {
    key: "model.backend",
    nature: "servers",
    free: (backend) => (leavesMachine(backend) ? undefined : backend),
    type: "string",
    values: [
      "openai-compatible",
      "openai-responses",
      "anthropic",
      "ollama",
      "llama-server",
      "llama",
      "scripted",
      "pocket",
    ],
    description:
      "Where inference happens: a server by the API that it speaks, a model in this process, or a screenplay; " +
      "chosen by what else is set unless given, and where nothing is set the built-in pocket model",
    env: ["TOOLWRIGHT_BACKEND"],
    flag: "backend",
  },
  {
    key: "model.name",
    nature: "harmless",
    type: "string",
    description: "Name of the model, as its server knows it; the tool-call format is chosen by it",
    env: ["TOOLWRIGHT_MODEL"],
    flag: "model",
  },
  {
    key: "model.prices",
    // Budgets in money are kept by them.
    nature: "widens",
    type: "object",
    holds: typed<Readonly<Record<string, ModelPrice>>>(),
    description:
      "What a million tokens cost by name of the model: { input, output }, in the unit in which budgets of " +
      "tasks are given",
  },
  {
    key: "model.baseUrl",
    nature: "servers",
    type: "string",
    description:
      "Where the model's server is, such as http://localhost:11434/v1; anthropic, openai-responses, ollama and " +
      "llama-server have a usual one",
    env: ["TOOLWRIGHT_BASE_URL", "OPENAI_BASE_URL"],
    flag: "base-url",
  },
  {
    key: "model.apiKey",
    nature: "keys",
    type: "string",
    description: "Key of that server",
    secret: true,
    env: ["TOOLWRIGHT_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
  },
  {
    key: "model.apiKeyEnv",
    nature: "keys",
    type: "string",
    description:
      "Variable that holds the key, where a key is to go to another address than its own: OPENAI_API_KEY goes to " +
      "api.openai.com or OPENAI_BASE_URL, ANTHROPIC_API_KEY to api.anthropic.com or ANTHROPIC_BASE_URL, " +
      "TOOLWRIGHT_API_KEY to TOOLWRIGHT_BASE_URL where that is set",
    flag: "api-key-env",
  },
  {
    key: "model.path",
    nature: "programs",
    path: true,
    type: "string",
    description: "GGUF file of a model to run in this process (needs node-llama-cpp)",
    env: ["TOOLWRIGHT_MODEL_PATH"],
    flag: "model-path",
  },
  {
    key: "model.dialect",
    nature: "harmless",
    type: "string",
    values: ["auto", "generic", "openai", "llama.cpp", "vllm", "sglang", "ollama"],
    fallback: "auto",
    description:
      "Which server it is, for what each calls otherwise; auto asks it when tools are written into the prompt",
    flag: "dialect",
  },
  {
    key: "model.screenplay",
    nature: "programs",
    path: true,
    type: "string",
    description: "YAML file of a screenplay to play in place of a model",
    flag: "screenplay",
  },
  {
    key: "model.format",
    nature: "harmless",
    type: "string",
    description: "Tool-call format, in place of the one chosen by the model's name",
    env: ["TOOLWRIGHT_FORMAT"],
    flag: "format",
  },
  {
    key: "model.formatFile",
    nature: "programs",
    path: true,
    type: "string",
    description:
      "Module with a tool-call format of your own, see docs/adding-a-format.md; it goes before every other, " +
      "and tools " +
      "are written into the prompt",
    flag: "format-file",
  },
  {
    key: "model.template",
    nature: "programs",
    path: true,
    type: "string",
    description:
      "The model's own chat template, by which its calls are written into the prompt and read: a file in Jinja, " +
      "a tokenizer_config.json or a GGUF file",
    flag: "model-template",
  },
  {
    key: "model.examined",
    nature: "harmless",
    type: "boolean",
    fallback: false,
    description: "Whether what toolwright doctor found out of this model decides how it is asked, and its window",
    flag: "examined",
  },
  {
    key: "model.nativeTools",
    nature: "harmless",
    type: "boolean",
    description: "Whether the server's own tool use is to be relied on; false writes tools into the prompt",
    env: ["TOOLWRIGHT_NATIVE_TOOLS"],
    flag: "native-tools",
    fallback: true,
  },
  {
    key: "model.toolCalling",
    nature: "harmless",
    type: "string",
    values: ["structured", "hybrid", "text"],
    fallback: "hybrid",
    description:
      "How a model is to call: by its server's tool use, a grammar or its family's syntax, where structured " +
      "takes no JSON in the text of a server with tool use for a call, or by generic JSON alone",
    flag: "tool-calling",
  },
  {
    key: "model.grounding",
    nature: "harmless",
    type: "string",
    values: ["auto", "always", "off"],
    fallback: "auto",
    flag: "grounding",
    description:
      "Whether paths and file patterns that a grammar holds must come from the conversation: with small models " +
      "in this process, with every model, or never",
  },
  {
    key: "model.contextTokens",
    nature: "harmless",
    type: "integer",
    minimum: 1024,
    description: "The model's window in tokens; older rounds are summarised before it is full",
    flag: "context-tokens",
  },
  {
    key: "model.temperature",
    nature: "harmless",
    type: "number",
    minimum: 0,
    description: "Sampling temperature",
    flag: "temperature",
  },
  {
    key: "model.maxTokens",
    nature: "harmless",
    type: "integer",
    minimum: 1,
    description: "Longest reply in tokens",
    flag: "max-tokens",
  },
  {
    key: "model.reasoningTokens",
    nature: "harmless",
    type: "integer",
    minimum: 1,
    description:
      "Most tokens (estimated) that a model may reason in one reply of a run before it says or calls anything; " +
      "then it is told to act",
    flag: "reasoning-tokens",
  },
  { key: "model.seed", nature: "harmless", type: "integer", description: "Seed of the sampler", flag: "seed" },
  {
    key: "model.timeoutSeconds",
    nature: "harmless",
    type: "number",
    minimum: 1,
    fallback: 120,
    description: "Longest silence of the server before a request is given up",
  },
] as const satisfies readonly Setting[]
