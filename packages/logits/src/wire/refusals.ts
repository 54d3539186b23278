import { messageOf } from "@toolwright/toolbox"

const TOOLS = String.raw`['"\`]?(?:tools?|functions?|(?:tool|function)[ _-](?:use|calls?|calling|choice))\b['"\`]?`
const HOLDS = String.raw`['"\`]?(?:grammars?|structured[ _]outputs?|guided[ _](?:decoding|grammar|json)|constrained decoding|response[ _]format|json[ _-]?schemas?)\b['"\`]?`
const FIELDS = String.raw`['"\`]?(?:tools|tool_choice|functions|function_call|grammar|structured_outputs|guided_grammar|guided_json|response_format|json_schema)\b(?!\[|\.\w)`
/** What follows makes it a word about these tools, not about tools. */
const NO_MORE = String.raw`(?! (?:with(?! (?:this|the|that) (?:model|server))|of|named|whose|that|larger|longer|more|in parallel|when|while|until|because)\b)`

/**
 * Sentences by which servers say that they take no tools, grammars or schemas at all. Each says so and nothing else:
 * that a message is about tools is not enough.
 */
const REFUSALS: readonly RegExp[] = [
  `(?:does not|doesn't|do not|don't|cannot|no) support (?:for )?(?:the )?(?:${TOOLS}|${HOLDS})${NO_MORE}`,
  `(?:${TOOLS}|${HOLDS})(?: parameter| of type ['"\`]?json_schema['"\`]?)? (?:is|are) not ` +
    `(?:supported|enabled|permitted|allowed|recogni[sz]ed)${NO_MORE}`,
  `no endpoints? found that supports? (?:tool|function)`,
  "(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra)(?: request| keyword)? " +
    `(?:field|parameter|param|argument|property|key|input)s?(?: supplied)?:? ?${FIELDS}`,
  String.raw`requires? (?:the )?(?:--jinja|--enable-auto-tool-choice)`,
  `(?:failed|unable) to (?:parse|compile|convert|initiali[sz]e) (?:the )?(?:provided )?(?:${HOLDS}|samplers?\\b)`,
  String.raw`(?:error|failure) (?:parsing|compiling|in) (?:the )?grammar`,
  String.raw`invalid (?:gbnf )?grammar\b`,
  String.raw`empty grammar stack`,
].map((source) => new RegExp(source, "i"))

/** As much of a message as is looked at. */
const LOOKED_AT = 4000

/** Whether a server's own words say that it takes no tools, no grammar or no schema. */
export function saysNoConstraint(message: string): boolean {
  const text = message.slice(0, LOOKED_AT)
  return REFUSALS.some((refusal) => refusal.test(text))
}

/** Failures that come from the constraint of a request, whatever they say. */
const OWN = new Set([
  "GBNF_SYNTAX",
  "GBNF_INVALID",
  "GRAMMAR_REFUSED",
  "GRAMMAR_TOO_AMBIGUOUS",
  "CONFLICTING_CONSTRAINTS",
  "CONSTRAINT_UNSUPPORTED",
])
/** Failures of which a server's words decide; those of other codes are about something else. */
const OPEN = new Set(["", "MODEL_REQUEST_REJECTED", "MODEL_SERVER_ERROR"])

/** Whether a failure comes from the constraint of a request rather than from the server as such. */
export function isConstraintError(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
  return OWN.has(code) || (OPEN.has(code) && saysNoConstraint(messageOf(error)))
}
