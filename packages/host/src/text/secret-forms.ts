/** A kind of secret that is recognised wherever it stands. */
export interface SecretForm {
  readonly name: string
  readonly pattern: RegExp
  /**
   * One of these stands in every text that the pattern finds something in: they are looked for first, since that takes
   * a small part of the time. No sign of them is one that JSON spells otherwise. In either case where the pattern says
   * so.
   */
  readonly words: readonly string[]
}

/** What keys of services begin with. */
const BEGINNINGS = [
  "whsec_",
  "SG.",
  "dop_v1_",
  "pypi-",
  "dckr_pat_",
  "hvs.",
  "gsk_",
  "xai-",
  "r8_",
  "pplx-",
  "nvapi-",
  "glsa_",
  "lin_api_",
  "AGE-SECRET-KEY-1",
  "tskey-",
  "sbp_",
]

/** Every way to put one of each list together. */
function joined(...lists: readonly (readonly string[])[]): string[] {
  return lists.reduce<string[]>((before, list) => before.flatMap((begin) => list.map((end) => begin + end)), [""])
}

/**
 * Kinds of secrets that have a form: cloud keys, tokens of code hosts and services, private keys, credentials in
 * addresses and headers. Every pattern takes time in proportion to the text: what is repeated has a bound, and a long
 * word is begun once.
 */
export const NAMED_SECRET_FORMS: readonly SecretForm[] = [
  {
    name: "aws",
    // Another secret may stand right behind it.
    pattern:
      /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?:(?![0-9A-Z])|(?=AKIA|ASIA|AIza|GOCSPX-|SG[.]|AGE-|[A-Z][a-z-]))/gu,
    words: ["AKIA", "ASIA"],
  },
  {
    name: "github",
    pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,255}/gu,
    words: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
  },
  { name: "github", pattern: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,255}/gu, words: ["github_pat_"] },
  {
    name: "gitlab",
    pattern: /(?<![A-Za-z0-9])gl(?:pat|rt|dt|ptt|cbt|ft|imt|soat|agent)-[A-Za-z0-9_-]{16,255}/gu,
    words: joined(["gl"], ["pat", "rt", "dt", "ptt", "cbt", "ft", "imt", "soat", "agent"], ["-"]),
  },
  { name: "slack", pattern: /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,255}/gu, words: ["xox", "xapp-"] },
  {
    name: "api-key",
    pattern: /(?<![A-Za-z0-9])(?:sk|rk|pk)[-_](?:ant|proj|or|live|test)[-_][A-Za-z0-9_-]{12,255}/gu,
    words: joined(["sk", "rk", "pk"], ["-", "_"], ["ant", "proj", "or", "live", "test"], ["-", "_"]),
  },
  {
    name: "api-key",
    pattern: /(?<![\w-])(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,255}/gu,
    words: joined(["sk", "rk", "pk"], ["-", "_"]),
  },
  { name: "google", pattern: /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}/gu, words: ["AIza"] },
  {
    name: "google",
    pattern: /(?<![A-Za-z0-9])(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,1000}/gu,
    words: ["ya29.", "GOCSPX-"],
  },
  { name: "notion", pattern: /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,255}/gu, words: ["ntn_"] },
  { name: "hugging-face", pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,255}/gu, words: ["hf_"] },
  { name: "npm", pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,255}/gu, words: ["npm_"] },
  {
    name: "npm",
    pattern: /(?<=:_(?:authToken|auth|password) ?= ?)[^\s"'$<]{6,500}/gu,
    words: [":_auth", ":_password"],
  },
  {
    name: "api-key",
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9])(?:${BEGINNINGS.join("|").replaceAll(".", "[.]")}|shp[a-z]{2}_|dapi(?=[0-9a-f]{30}))` +
        String.raw`(?=[A-Za-z._-]{0,80}\d)[A-Za-z0-9._-]{20,255}`,
      "gu",
    ),
    words: [...BEGINNINGS, "shp", "dapi"],
  },
  {
    name: "api-key",
    pattern: /(?<=hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]{16,255}/gu,
    words: [
      ...joined(["hooks.slack.com/"], ["services/", "workflows/"]),
      ...joined(["discord", "discordapp"], [".com/api/webhooks/"]),
    ],
  },
  {
    name: "jwt",
    pattern: /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}/gu,
    words: ["eyJ"],
  },
  {
    name: "private-key",
    pattern:
      /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----BEGIN )[\s\S]){0,20000}?-----END (?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:|,-]{0,20000})/gu,
    words: ["-----BEGIN "],
  },
  {
    name: "address",
    pattern: inAddress(String.raw`[a-z][a-z0-9+.-]{1,20}`, "/"),
    words: ["://"],
  },
  // Of databases people write passwords as they are, slashes among them.
  {
    name: "address",
    pattern: inAddress(
      String.raw`(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql)(?:\+[a-z0-9]{1,20})?`,
      "",
    ),
    words: ["://"],
  },
  {
    name: "address",
    pattern:
      /(?<=[?&](?:access_token|api_?key|token|sig|signature|client_secret|password)=)(?=[^\s&"'#<>`\\]{0,300}\d)[^\s&"'#<>`\\$[]{8,2000}/giu,
    words: joined(
      ["access_token", "api_key", "apikey", "token", "sig", "signature", "client_secret", "password"],
      ["="],
    ),
  },
  {
    name: "address",
    pattern:
      /(?<=(?:server|host|data source|endpoint|uid|user id|accountname|defaultendpointsprotocol)\s?=[^\n;]{1,200};[^\n]{0,200}(?:password|pwd|accountkey|sharedaccesskey)\s?=\s?)(?![$<{%*[])[^\s;"'`\\]{3,300}/giu,
    words: ["password", "pwd", "accountkey", "sharedaccesskey"],
  },
  {
    name: "aws",
    pattern: /(?<=secret_?access_?key\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}["']?)[A-Za-z0-9/+]{40,255}/giu,
    words: joined(["secret"], ["", "_"], ["access"], ["", "_"], ["key"]),
  },
  {
    name: "header",
    pattern:
      /(?<=authorization\\{0,4}["']? {0,4}[:=,] {0,4}\\{0,4}["']?(?:bearer|basic|token|apikey|digest|key) {1,4})(?![$<{%[`])[^\s"'`\\]{1,8000}/giu,
    words: ["authorization"],
  },
  {
    name: "header",
    pattern:
      /(?<=(?:authorization|x-api-key|x-auth-token|private-token|x-vault-token|api-key)\\{0,4}["']? {0,4}[:,] {0,4}\\{0,4}["']?)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{12,8000}/giu,
    words: ["authorization", "x-api-key", "x-auth-token", "private-token", "x-vault-token", "api-key"],
  },
  {
    name: "header",
    pattern: /(?<=\bBearer\s{1,4})[A-Za-z0-9._~+/=-]{16,8000}/gu,
    words: ["Bearer"],
  },
]

/** A password between a scheme with a user and the host; not what stands for one in an example. */
function inAddress(scheme: string, never: string): RegExp {
  const example = String.raw`\$\{|\$[A-Z_]{1,60}@|<|\{|%[sdv]@|%[A-Z_]{1,60}%@|\*{1,40}@|\[secret\]@`
  return new RegExp(
    String.raw`(?<=${scheme}://[^\s:@/]{0,100}:)(?!${example})[^\s"'<>${"`"}${never}]{1,200}(?=@)`,
    "giu",
  )
}

/** The patterns alone. */
export const SECRET_FORMS: readonly RegExp[] = NAMED_SECRET_FORMS.map(({ pattern }) => pattern)
