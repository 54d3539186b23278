import { FORMATS } from "../formats/index.ts"

/** A rule for model names. Rules are tried in order, so the particular stand before the general. */
interface NameRule {
  /** Looked for in the normalised name, see {@link formatForModelName}. */
  pattern: RegExp
  format: string
}

/** Fine-tunes first: their names contain the names of the models that they were made from. */
const FINE_TUNES: readonly NameRule[] = [
  { pattern: /functionary.*v?3\.?2/, format: "functionary-v3.2" },
  { pattern: /functionary/, format: "functionary-v3.1" },
  { pattern: /firefunction/, format: "firefunction" },
  { pattern: /xlam/, format: "xlam" },
  { pattern: /toolace|watt-tool/, format: "pythonic" },
  { pattern: /deepseek-?r1|cogito/, format: "deepseek-v3" },
  { pattern: /nemotron-?3(?!\.\d)|nemotron-.*-?3-(nano|super|ultra)|nemotron3/, format: "qwen3-xml" },
  { pattern: /nemotron.*nano.*v2|nemotron-v2|nemotron-nano-9b/, format: "nemotron-v2" },
  { pattern: /llama-?3.*nemotron.*(super|ultra|nano)/, format: "nemotron-v2" },
  { pattern: /\bmimo-?v2|intellect-?3|\bkat-(dev|coder)/, format: "qwen3-xml" },
  { pattern: /mirothinker|smollm|bielik|\bmimo\b|qwq|reka|toolwright-pocket/, format: "hermes" },
  { pattern: /exaone|groq.*tool-use|arch-(function|agent)|intellect-?2|nanbeige|falcon-?h1/, format: "hermes" },
  { pattern: /\bjan-(nano|v\d)|tongyi-deepresearch|\bfara-\d|\ba\.x-?[34]|\bt-(pro|lite)-it/, format: "hermes" },
  { pattern: /hermes/, format: "hermes" },
]

/** What the formats say themselves. */
const DECLARED: readonly NameRule[] = FORMATS.flatMap(({ id, models }) =>
  models === undefined ? [] : [{ pattern: models, format: id }],
)

/** Families whose names contain one another's, so that their rules need an order. */
const FAMILIES: readonly NameRule[] = [
  { pattern: /gpt-oss|harmony/, format: "harmony" },
  { pattern: /llama-?4/, format: "llama4" },
  { pattern: /llama-?3/, format: "llama3" },
  { pattern: /qwen-?3.*coder|qwen-?3\.[5-9]|qwen-?[4-9]|ornith/, format: "qwen3-xml" },
  { pattern: /qwen/, format: "qwen2.5" },
  {
    pattern: /devstral|magistral|ministral|mistral-(large|medium)-?3|mistral-small-?4|codestral-25|voxtral/,
    format: "mistral-v11",
  },
  { pattern: /mistral-small.*(3\.2|2506)/, format: "mistral-small-3.2" },
  { pattern: /mistral|mixtral/, format: "mistral" },
  { pattern: /deepseek-?v?4[.-]?1(?![\da-z])/, format: "deepseek-v41" },
  { pattern: /deepseek-?v?4/, format: "deepseek-v4" },
  { pattern: /deepseek-?v?3[.-]?2(?![\da-z])/, format: "deepseek-v32" },
  { pattern: /deepseek-?v?3[.-]?1(?![\da-z])/, format: "deepseek-v31" },
  { pattern: /deepseek/, format: "deepseek-v3" },
  { pattern: /kimi-?k3/, format: "kimi-k3" },
  { pattern: /kimi|moonshot/, format: "kimi-k2" },
  { pattern: /glm-?(4\.7|5)|laguna-?s/, format: "glm47" },
  { pattern: /(?<!chat)glm|laguna/, format: "glm45" },
  { pattern: /\bling-?3|\bspark-?(2\.?5|3)/, format: "glm45" },
  { pattern: /\b(ling|ring)-?(\d|flash|lite|mini|plus|max)/, format: "hermes" },
  { pattern: /hyperclova.*14b/, format: "hyperclovax-14b" },
  { pattern: /hyperclova/, format: "hyperclovax" },
  { pattern: /iquest-?coder.*(v?2)(?!\d)/, format: "iquest-coder-v2" },
  { pattern: /iquest-?coder|berrylm|kolibri/, format: "qwen3-xml" },
  { pattern: /hunyuan-?(v?4)|\bhy-?v?4/, format: "hunyuan4" },
  { pattern: /hunyuan-?3|\bhy-?(v?3)|hunyuan-v3/, format: "hunyuan3" },
  { pattern: /hunyuan/, format: "hunyuan-a13b" },
  { pattern: /minimax-?m3/, format: "minimax-m3" },
  { pattern: /minimax-?m2/, format: "minimax-m2" },
  { pattern: /minimax/, format: "minimax-m1" },
  { pattern: /function-?gemma/, format: "functiongemma" },
  { pattern: /gemma-?(4|e[24]b)/, format: "gemma4" },
  { pattern: /gemma-?3(?!n)/, format: "pythonic" },
  { pattern: /\blfm-?2/, format: "lfm2" },
  { pattern: /olmo-?3/, format: "olmo3" },
  { pattern: /command-?(r7b|a)|north-mini|cohere2|c4ai-command-a/, format: "command-r7b" },
  { pattern: /command-?r/, format: "command-r" },
  { pattern: /granite-?20b/, format: "granite-20b-fc" },
  { pattern: /granite-?4|granite4/, format: "granite4" },
  { pattern: /granite/, format: "granite3" },
  { pattern: /seed-?oss/, format: "seed-oss" },
  { pattern: /apriel/, format: "apriel" },
  { pattern: /phi-?4/, format: "phi4-mini" },
  { pattern: /intern(lm|-s1)/, format: "internlm2" },
  { pattern: /jamba/, format: "jamba" },
  { pattern: /gigachat-?3\.5/, format: "gigachat35" },
  { pattern: /gigachat-?3\.1/, format: "gigachat31" },
  { pattern: /gigachat/, format: "gigachat3" },
  { pattern: /minicpm/, format: "minicpm5" },
  { pattern: /step-?3\.5|stepfun-?3\.5/, format: "qwen3-xml" },
  { pattern: /step-?3/, format: "step3" },
  { pattern: /step-?audio/, format: "step-audio-2" },
  { pattern: /plamo-?3/, format: "plamo3" },
  { pattern: /pangu/, format: "pangu" },
  { pattern: /rwkv/, format: "rwkv" },
  { pattern: /\bcwm/, format: "cwm" },
  { pattern: /solar-open-?2/, format: "solar-open2" },
  { pattern: /solar-open/, format: "solar-open" },
  { pattern: /longcat-?2|longcat.*(lite|2601|zigzag)/, format: "longcat2" },
  { pattern: /longcat/, format: "longcat" },
  { pattern: /ernie/, format: "ernie45" },
  { pattern: /\bdots/, format: "dots" },
  { pattern: /inkling/, format: "inkling" },
  { pattern: /k2-?(horizon|v3)/, format: "k2-horizon" },
  { pattern: /trinity/, format: "trinity" },
  { pattern: /glimmer/, format: "glimmer" },
  { pattern: /nous/, format: "hermes" },
  { pattern: /claude/, format: "claude" },
  { pattern: /\bgpt-(3\.5|4|5)|\bchatgpt|(^|\/)o[134](-|$)/, format: "openai" },
]

/** File endings and quantisations say nothing of the family. */
const PACKAGING = /\.gguf$|-\d{5}-of-\d{5}|[-.](i?q\d\w*|f16|bf16|f32|fp8|awq|gptq|mlx)(?=$|[-.])/g

/**
 * The format that a model's name points to, and the part of the name that said so. Understands `org/name`, Ollama's
 * `name:tag`, and GGUF file names with their paths.
 */
export function formatForModelName(modelName: string): { format: string; matched: string } | undefined {
  const name = modelName
    .toLowerCase()
    .replaceAll("\\", "/")
    .replaceAll(/[\s_:]+/g, "-")
    .replaceAll(PACKAGING, "")
  for (const { pattern, format } of [...FINE_TUNES, ...DECLARED, ...FAMILIES]) {
    const found = pattern.exec(name)
    if (found !== null) return { format, matched: found[0] }
  }
  return undefined
}
