import type { EnvelopeSyntax, Format, PythonSyntax } from "../engine/syntax.ts"
import { schemaPrompt, toolLinesPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"
import { bareJson, fencedJson, think } from "./syntaxes.ts"

const STOP = ["<|eot_id|>", "<|eom_id|>"]

const tagged: EnvelopeSyntax = {
  codec: "envelope",
  keys: { name: "name", arguments: "arguments" },
  wrapper: { open: ["<|python_tag|>"], close: [], closeOptional: true },
  separator: "\n",
}

/** Built-in tools, as `brave_search.call(query="…")`. */
const builtIn: PythonSyntax = {
  codec: "python",
  wrapper: { open: ["<|python_tag|>"], close: [], closeOptional: true },
  nameSuffix: ".call",
}

/**
 * Llama 3.1 to 3.3: a JSON object, with the tag before it or, as the models mostly write, bare. Source: the official
 * chat templates.
 */
export const llama3: Format = {
  id: "llama3",
  aliases: [
    "llama",
    "llama3-json",
    "llama-3",
    "llama3.1",
    "llama3.2",
    "llama3.3",
    "llama4-json",
    "llama-3.x",
    "llama-3.x-with-builtin-tools",
    "ollama-tmpl-llama",
    "ollama-tmpl-llama3",
    "ollama-tmpl-llama3.2",
  ],
  title: "<|python_tag|> and a JSON object, or the object alone: Llama 3.1, 3.2, 3.3",
  calls: [tagged, builtIn, { ...bareJson, bare: "sentence", recovery: false }, fencedJson],
  reasoning: think,
  framing: STOP,
  ids: "call",
  stop: STOP,
  prompt: schemaPrompt,
  result: (_call, result) => JSON.stringify(resultText(result)),
  templateMarkers: [["ipython", "<|start_header_id|>"]],
}

/** Calls as a list of Python calls; bare, since these models mark nothing. */
const pythonList: PythonSyntax = {
  codec: "python",
  bare: "anywhere",
  layout: { before: "[", between: ", ", after: "]" },
  together: true,
}

/** The same between marks, which other models of the line were taught. */
const markedPython: PythonSyntax = {
  codec: "python",
  wrapper: {
    open: ["<|python_start|>", "<|python_tag|>"],
    close: ["<|python_end|>"],
    soft: true,
    closeOptional: true,
  },
}

/** Calls on lines of their own, with which the reply begins. */
const pythonLines: PythonSyntax = { codec: "python", atStart: true, recovery: true }

/** The same in a code block of Python. */
const pythonBlock: PythonSyntax = {
  codec: "python",
  wrapper: { open: ["```python", "```py"], close: ["```"], soft: true },
  recovery: true,
}

/** Llama 3.2 and ToolACE as prompted for it, Gemma 3 likewise: a Python list of calls. Source: model cards. */
export const pythonic: Format = {
  id: "pythonic",
  aliases: ["llama3.2-pythonic", "llama-pythonic", "toolace", "gemma3-pythonic", "gemma3", "granite-pythonic"],
  title: "A Python list of calls: Llama 3.2, ToolACE, Gemma 3",
  calls: [pythonList, markedPython, pythonLines, pythonBlock],
  reasoning: think,
  framing: STOP,
  ids: "call",
  stop: STOP,
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [
    ["func_name1(params_name1=", "<|start_header_id|>"],
    ["[func_name1(", "functions in JSON format", "<|start_header_id|>"],
    ["[func_name1("],
  ],
}

/** JSON between the marks of Python, as models of the line write that are prompted for it. */
const markedJson: EnvelopeSyntax = {
  ...tagged,
  wrapper: {
    open: ["<|python_tag|>", "<|python_start|>"],
    close: ["<|python_end|>"],
    soft: true,
    closeOptional: true,
  },
}

/** Llama 4: the same, between marks. */
export const llama4: Format = {
  ...pythonic,
  id: "llama4",
  aliases: ["llama-4", "llama4-pythonic"],
  title: "A Python list of calls between <|python_start|> and <|python_end|>: Llama 4",
  calls: [
    {
      codec: "python",
      wrapper: { open: ["<|python_start|>"], close: ["<|python_end|>"] },
      layout: { before: "[", between: ", ", after: "]" },
      together: true,
    },
    pythonList,
    markedPython,
    markedJson,
    { ...bareJson, bare: "sentence", recovery: false },
  ],
  framing: ["<|eot|>", "<|eom|>"],
  stop: ["<|eot|>", "<|eom|>"],
  templateMarkers: [["<|python_start|>"], ["<|header_start|>", "ipython"]],
}
