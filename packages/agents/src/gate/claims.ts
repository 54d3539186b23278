import type { WorkNote } from "@toolwright/toolbox"
import type { Ledger } from "./ledger.ts"

const VERB =
  "fixed|changed|updated|added|created|wrote|written|implemented|removed|deleted|edited|modified|replaced|renamed|" +
  "moved|committed|pushed|deployed|installed|refactored|rewrote|rewritten|corrected|repaired|patched"
/** Somebody says of himself that he did it; what others did is what an answer may well tell of. */
const DID = new RegExp(`\\b(?:I|we)(?:['’]ve| have)?(?: (?:now|also|just|successfully|already))? (?:${VERB})\\b`, "i")
/** What a workspace holds: a poem is written in an answer alone. */
const WORK =
  "files?|folders?|code|bugs?|tests?|functions?|class(?:es)?|modules?|imports?|commits?|branch(?:es)?|repository"
const OF_THE_WORK = new RegExp(`\\b(?:${WORK})\\b|\\w\\.[a-z]\\w{0,4}\\b|\\w/\\w`, "i")
const PASSES = /\btests?\b.{0,60}\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|(?:is|are) green)\b/i
/** A wish, a condition or a denial says of nothing that it is so. */
const OTHERWISE =
  /\b(?:should|would|will|may|might|could|can|cannot|if|once|until|unless|whether|not|no|make|to)\b|n['’]t\b/i
/** What an answer shows of others' words. */
const QUOTED = /```[^]*?(?:```|$)|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|^\s*>.*$/gm

/**
 * What an answer says was done and no recorded result shows. Words are looked at only to tell of them: what was done
 * is known from the record alone.
 */
export function unshownClaims(answer: string, ledger: Ledger): WorkNote[] {
  const own = answer.slice(0, MOST_READ).replaceAll(QUOTED, " ")
  const sentences = own.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => !OTHERWISE.test(sentence))
  const did = sentences.some((sentence) => DID.test(sentence) && OF_THE_WORK.test(sentence))
  const passes = sentences.some((sentence) => PASSES.test(sentence))
  return [
    ...(did && ledger.effects === 0 ? [{ code: "NOT_SHOWN", message: NOTHING_DID }] : []),
    ...(passes && !ledger.mayBeChecked ? [{ code: "NOT_SHOWN", message: NOTHING_RAN }] : []),
  ]
}

/** Characters of an answer that are looked at. */
const MOST_READ = 20_000
const NOTHING_DID = "The answer says that something was done, and no call of this run changed anything."
const NOTHING_RAN = "The answer says that tests pass, and none was run since the last change."
