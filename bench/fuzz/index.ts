/** Everything that is fuzzed, by name. */
import { configurationTarget } from "./configuration-target.ts"
import { gbnfTarget } from "./gbnf-target.ts"
import { replyTarget } from "./reply-target.ts"
import { schemaTarget } from "./schema-target.ts"
import { templateTarget } from "./template-target.ts"
import type { Target } from "./target.ts"

export const TARGETS: readonly Target[] = [schemaTarget, templateTarget, replyTarget, gbnfTarget, configurationTarget]
