import type { CallSyntax, Format } from "../engine/syntax.ts"
import { apertus } from "./apertus.ts"
import { cohere, commandR } from "./cohere.ts"
import { deepseekV3, deepseekV31, deepseekV32, deepseekV4, deepseekV41 } from "./deepseek.ts"
import { cwm, hyperclova14b, pangu, plamo3, rwkv, stepAudio2 } from "./reference-parsers.ts"
import { functionaryV31, functionaryV32 } from "./functionary.ts"
import { functionGemma, gemma4 } from "./gemma.ts"
import { generic } from "./generic.ts"
import { gigachat3, gigachat31, gigachat35 } from "./gigachat.ts"
import { glm45, glm47, hunyuan3, hunyuan4, hyperclova, iquestCoder2 } from "./glm.ts"
import { granite20b, granite3, granite4 } from "./granite.ts"
import { harmony } from "./harmony.ts"
import { ernie, hermes, longcat, longcat2, qwen, trinity } from "./hermes.ts"
import { k2Horizon } from "./ifm.ts"
import { inkling } from "./inkling.ts"
import { anthropicXml, dots, glimmer, minicpm5, step3 } from "./invoke-tags.ts"
import { apriel, firefunction, hunyuan, internlm, jamba, nemotronV2, phi4, xlam } from "./json-lists.ts"
import { kimiK2, kimiK3 } from "./kimi.ts"
import { llama3, llama4, pythonic } from "./llama.ts"
import { minimaxM1, minimaxM2, minimaxM3 } from "./minimax.ts"
import { mistral, mistralTekken, mistralWithIds } from "./mistral.ts"
import { claude, openai } from "./native.ts"
import { lfm2, olmo3 } from "./python-tags.ts"
import { qwen3Xml } from "./qwen3-xml.ts"
import { seed } from "./seed.ts"
import { solar, solarOpen2 } from "./solar.ts"
import { RECOVERY } from "./syntaxes.ts"

/** Every format. To add one, write its file and name it here. */
export const FORMATS: readonly Format[] = [
  hermes,
  qwen,
  qwen3Xml,
  llama3,
  llama4,
  pythonic,
  mistral,
  mistralWithIds,
  mistralTekken,
  deepseekV3,
  deepseekV31,
  deepseekV32,
  deepseekV4,
  deepseekV41,
  kimiK2,
  kimiK3,
  glm45,
  glm47,
  hunyuan3,
  hunyuan4,
  iquestCoder2,
  hyperclova,
  hunyuan,
  minimaxM1,
  minimaxM2,
  minimaxM3,
  harmony,
  gemma4,
  functionGemma,
  lfm2,
  olmo3,
  cohere,
  commandR,
  granite4,
  granite3,
  granite20b,
  nemotronV2,
  seed,
  apriel,
  phi4,
  firefunction,
  xlam,
  internlm,
  jamba,
  gigachat3,
  gigachat31,
  gigachat35,
  apertus,
  functionaryV31,
  functionaryV32,
  minicpm5,
  step3,
  solar,
  solarOpen2,
  longcat,
  longcat2,
  ernie,
  glimmer,
  dots,
  inkling,
  k2Horizon,
  trinity,
  plamo3,
  pangu,
  rwkv,
  stepAudio2,
  cwm,
  hyperclova14b,
  anthropicXml,
  generic,
  openai,
  claude,
]

/** The first, printed syntax of each. */
function printed(...formats: readonly Format[]): CallSyntax[] {
  return formats.flatMap((format) => format.calls.slice(0, 1))
}

/** The marks with which calls of any family begin, and some that models make up; text alone is none. */
export const CALL_MARKS: readonly string[] = [
  ...new Set([
    ...FORMATS.flatMap(({ calls }) => calls).flatMap((syntax) => [
      ...(syntax.wrapper?.soft === true ? [] : (syntax.wrapper?.open ?? [])),
      ...(syntax.codec === "named" ? syntax.open : []),
      ...(syntax.codec === "parameters" ? syntax.call.open : []),
    ]),
    "<tool>",
    "<tools>",
    "<function_call>",
    "<tool_calls>",
  ]),
].filter((mark) => mark.trim().length > 3 && !mark.startsWith("```"))

/** Harmony and Functionary 3.2 without the marks that could be ordinary text, and are costly to look for. */
const unmistakable: CallSyntax[] = printed(harmony, functionaryV32).map((syntax) => {
  if (syntax.codec === "channel") return { ...syntax, open: syntax.open.filter((mark) => mark.startsWith("<")) }
  return syntax.codec === "named" ? { ...syntax, open: [] } : syntax
})

/**
 * Syntaxes with marks so particular that every format accepts them, reporting them as another family's; then what
 * models write that forget their marks.
 */
export const ACCEPTED_EVERYWHERE: readonly CallSyntax[] = [
  ...printed(
    qwen3Xml,
    hermes,
    functionaryV31,
    mistral,
    mistralTekken,
    deepseekV31,
    deepseekV3,
    deepseekV32,
    deepseekV4,
    kimiK2,
    glm47,
    seed,
    minimaxM2,
    anthropicXml,
    gemma4,
    lfm2,
  ),
  ...unmistakable,
  ...RECOVERY,
]
