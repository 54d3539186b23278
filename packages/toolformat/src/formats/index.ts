import type { CallSyntax, Format } from "../engine/syntax.ts"
import { generic } from "./generic.ts"
import { hermes, qwen } from "./hermes.ts"
import { claude, openai } from "./native.ts"

/** Every format. To add one, write its file and name it here. */
export const FORMATS: readonly Format[] = [hermes, qwen, generic, openai, claude]

/** Syntaxes with marks so particular that every format accepts them, reporting them as another family's. */
export const UNMISTAKABLE: readonly CallSyntax[] = []
