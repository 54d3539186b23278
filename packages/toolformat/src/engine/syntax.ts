import type { ToolCall, ToolDefinition, ToolResult } from "@toolwright/toolbox"

/**
 * Marks around one or several calls. A model's text may use any of the openings and closings; the first of each is
 * printed.
 * White space in a mark stands for any white space.
 */
export interface Wrapper {
  open: readonly string[]
  close: readonly string[]
  /** Whether the calls also stand without the opening mark, which is then reported as missing. */
  openOptional?: boolean
  /** The opening mark alone says nothing (a code fence): without a call after it, it is text. */
  soft?: boolean
  /** Whether the calls usually stand without the closing mark; `never printed`: it is accepted only. */
  closeOptional?: boolean | "never printed"
}

/** What every call syntax has, whatever its codec. */
interface CallSyntaxBase {
  wrapper?: Wrapper
  /**
   * Printed between the opening mark and the first call, between calls, and between the last call and the closing mark.
   */
  layout?: { before?: string; between?: string; after?: string }
  /** Whether several calls share one wrapper when printed; otherwise each has its own. */
  together?: boolean
  /** Printed between wrappers. */
  separator?: string
  /**
   * Where calls stand without any mark: at the beginning of a line, there or after the end of a sentence or a colon,
   * anywhere in the text where tools are known, or not at all (the default). Such a call must be of a tool on offer,
   * where tools are known.
   */
  bare?: "line" | "sentence" | "anywhere"
  /** The syntax is this family's recovery, not its own: a call in it is reported as `missing-wrapper`. */
  recovery?: boolean
}

/** A JSON object with the tool's name and its arguments as members, in any order and in many spellings. */
export interface EnvelopeSyntax extends CallSyntaxBase {
  codec: "envelope"
  /** Members as printed. */
  keys: { name: string; arguments: string; id?: string }
  /** The tool's name is the key and the arguments are its value. */
  nameAsKey?: boolean
  /** Whether the id is printed before the name. */
  idFirst?: boolean
  /** A message's header around the tool's name, then the object, then `close`; the header's opening may be missing. */
  header?: { open: string; end: string; close: readonly string[] }
  /** The opening of the header is part of the prompt, so a reply may begin with the name in it. */
  atStart?: boolean
}

/** The tool's name between marks, then the arguments as one JSON object. */
export interface NamedSyntax extends CallSyntaxBase {
  codec: "named"
  /** Before the name; the first is printed. */
  open: readonly string[]
  /** What else may stand before the name inside the wrapper, where the mark was forgotten. */
  openInWrapper?: readonly string[]
  /** Between name and arguments; the first is printed, any may stand. */
  middle: readonly string[]
  /** Between name and id, where the family writes one (`[CALL_ID]`). */
  idMark?: string
  /** Between id and name, where the id comes first. */
  idBefore?: string
  /** After the arguments; the first is printed. The end of the arguments is enough for us. */
  close: readonly string[]
  /** The opening mark is an ordinary word, so the name must be that of a tool on offer. */
  offered?: boolean
  /** What follows the name and is no object is the text of this one argument. */
  textArgument?: string
  /** How name and id share the place of the name (`functions.{name}:{index}`). */
  nameForm?: "kimi"
  /**
   * The opening mark is part of the prompt, so a reply may begin with the name of a tool on offer, on a line of its
   * own; or a server took all marks away, and the arguments' object follows at once.
   */
  atStart?: true | "before its object"
}

/** Parameters between tags, as text that says nothing about its type unless `typed`. */
export interface ParametersSyntax extends CallSyntaxBase {
  codec: "parameters"
  /**
   * Before the tool's name (nothing, where the wrapper is enough), after it, and at the call's end. The first is
   * printed.
   */
  call: {
    open: readonly string[]
    /** Between the call's id and the tool's name, where the id comes first. */
    idBefore?: string
    /** `{index}` is printed as the call's number, from 1, `{id}` as its id. */
    nameEnd: readonly string[]
    close: readonly string[]
    /** What ends the attributes after the name, where there are any. */
    attributesEnd?: string
    /** That of these attributes which holds the call's id. */
    id?: string
  }
  /**
   * Before the key, between key and value, after the value, where `{key}` stands for the key. The first is printed.
   */
  parameter: { open: readonly string[]; keyEnd: readonly string[]; close: readonly string[] }
  /** That of `keyEnd` behind which the value's own opening mark is missing, and with it perhaps the value. */
  valueless?: string
  /**
   * A tag between key and value that names the value's type; its opening is one of `keyEnd`, its end begins the value.
   */
  typeTag?: { open: string; close: string }
  /** What models write between tags that means nothing, besides white space. */
  fillers?: readonly string[]
  /** One line break after the key and one before the closing tag are framing. */
  framed?: boolean
  /** Printed after the name and after each parameter. */
  lines?: { afterName?: string; afterParameter?: string }
  /** An attribute between key and `end` that tells text from JSON: a flag, or the type's name. */
  typed?: { attribute: "string" | "type"; end: string }
  /**
   * Values may stand in `<![CDATA[…]]>`, and are printed so where they contain tags; elsewhere entities stand for them.
   */
  cdata?: boolean
  /** A value of which no schema says the type is JSON where it can be read so, as the family writes it. */
  untyped?: "json"
}

/** `name(key=value, …)`, as in Python. */
export interface PythonSyntax extends CallSyntaxBase {
  codec: "python"
  /** What built-in tools' names end in. */
  nameSuffix?: string
  /** The calls stand in code: results may be kept or printed, and other lines may stand between them. */
  code?: boolean
  /** Calls of tools on offer may stand at the beginning of a reply, one to a line, without list or marks. */
  atStart?: true
}

/** `call:name{key:value,…}` with bare keys and strings between special delimiters. */
export interface GemmaSyntax extends CallSyntaxBase {
  codec: "gemma"
  open: string
  quote: string
}

/** Arguments as nested tags, each behind a prefix that no text contains. */
export interface NestedSyntax extends CallSyntaxBase {
  codec: "nested"
  prefix: string
}

/** Messages with a header that names channel and recipient. */
export interface ChannelSyntax extends CallSyntaxBase {
  codec: "channel"
  /** What a header can begin with. */
  open: readonly string[]
  headerEnd: string
  /** What tools' names as recipients begin with. */
  namespace: string
  close: readonly string[]
}

export type CallSyntax =
  | EnvelopeSyntax
  | NamedSyntax
  | ParametersSyntax
  | PythonSyntax
  | GemmaSyntax
  | NestedSyntax
  | ChannelSyntax

/** Marks around what a model thinks to itself. */
export interface ReasoningSyntax {
  open: readonly string[]
  close: readonly string[]
}

/** Where a family's call ids come from. */
export type IdPolicy = "ordinal" | "nine" | "kimi" | "call"

/**
 * One model family, as data. The first of `calls` is the one we print, describe and constrain to; the others are
 * accepted.
 */
export interface Format {
  id: string
  aliases: readonly string[]
  /** One line for people. */
  title: string
  /**
   * What tells the names of its models: sought in the name in lower case, with `-` for spaces, `_` and `:`, before the
   * rules for names that need an order (`selector/model-names.ts`), those of fine-tunes apart.
   */
  models?: RegExp
  /** Calls in the order in which they are tried. */
  calls: readonly CallSyntax[]
  reasoning?: ReasoningSyntax
  /** Messages with headers: what begins one, what ends it, and the channels whose text is reasoning. */
  headers?: {
    open: readonly string[]
    end: string
    reasoning: readonly string[]
    /**
     * What a header looks like, its end apart, with the channel's name as its first group; `<|channel|>name` unless
     * given.
     */
    form?: RegExp
  }
  /** What the beginning of a reply may consist of besides text, the opening mark being part of the prompt. */
  startFraming?: readonly string[]
  /** Marks that belong to the dialogue, not to what is said: left out of the content. */
  framing?: readonly string[]
  /** Models write a namespace before the names of tools, which is none of theirs. */
  namespaces?: boolean
  /** What happens with calls inside reasoning, unless the caller says otherwise. */
  callsInReasoning?: "drop" | "accept"
  ids: IdPolicy
  stop: readonly string[]
  /** How the tools are listed. */
  prompt: PromptStyle
  /** How a result is shown to the model. */
  result: ResultStyle
  /** Literals that only this family's chat templates contain; all of one list must occur. */
  templateMarkers: readonly (readonly string[])[]
  /** The syntax is the generic one: nothing marks its calls, so they are looked for by the four strategies. */
  generic?: boolean
  /** Calls never stand in text: the family is served by an API with tools of its own. */
  apiOnly?: "claude" | "openai"
}

export type PromptStyle = (tools: readonly ToolDefinition[], call: string) => string
export type ResultStyle = (call: ToolCall, result: ToolResult) => string
