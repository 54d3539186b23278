/** A kind of secret that is recognised wherever it stands. */
export interface SecretForm {
  readonly name: string
  readonly pattern: RegExp
  /**
   * What stands in every text that the pattern finds something in: looked for first, since that takes a small part of
   * the time. No sign of it is one that JSON spells otherwise.
   */
  readonly hint: RegExp
}

/**
 * Kinds of secrets that have a form: cloud keys, tokens of code hosts and services, private keys, credentials in
 * addresses and headers. Every pattern takes time in proportion to the text: what is repeated has a bound, and a long
 * word is begun once.
 */
export const NAMED_SECRET_FORMS: readonly SecretForm[] = [
  { name: "aws", pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])/gu, hint: /AKIA|ASIA/ },
  { name: "github", pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,255}/gu, hint: /gh[pousr]_/ },
  { name: "github", pattern: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,255}/gu, hint: /github_pat_/ },
  { name: "gitlab", pattern: /(?<![\w-])glpat-[A-Za-z0-9_-]{16,255}/gu, hint: /glpat-/ },
  { name: "slack", pattern: /(?<![\w-])xox[abeprs]-[A-Za-z0-9-]{10,255}/gu, hint: /xox[abeprs]-/ },
  {
    name: "api-key",
    pattern: /(?<![\w-])(?:sk|rk|pk)[-_](?:ant|proj|or|live|test)[-_][A-Za-z0-9_-]{12,255}/gu,
    hint: /[srp]k[-_]/,
  },
  {
    name: "api-key",
    pattern: /(?<![\w-])(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,255}/gu,
    hint: /[srp]k[-_]/,
  },
  { name: "google", pattern: /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}/gu, hint: /AIza/ },
  { name: "notion", pattern: /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,255}/gu, hint: /ntn_/ },
  { name: "hugging-face", pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,255}/gu, hint: /hf_/ },
  { name: "npm", pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,255}/gu, hint: /npm_/ },
  { name: "npm", pattern: /(?<=:_(?:authToken|auth|password) ?= ?)[^\s"'$<]{6,500}/gu, hint: /:_(?:auth|password)/ },
  {
    name: "jwt",
    pattern: /(?<![\w-])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}/gu,
    hint: /eyJ/,
  },
  {
    name: "private-key",
    pattern:
      /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----(?:(?:(?!-----BEGIN )[\s\S]){0,20000}?-----END (?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----|[A-Za-z0-9+/=\s\\:|,-]{0,20000})/gu,
    hint: /-----BEGIN /,
  },
  {
    name: "address",
    pattern: /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,100}:)(?![$<{%*])[^\s@/]{1,200}(?=@)/giu,
    hint: /:\/\//,
  },
  {
    name: "header",
    pattern: /(?<=\bauthorization"?: {0,4}"?(?:bearer|basic|token) {1,4})(?![$<{%[`])[^\s"'`]{1,8000}/giu,
    hint: /[aA][uU][tT][hH][oO][rR]/,
  },
  { name: "header", pattern: /(?<=\bBearer\s{1,4})[A-Za-z0-9._~+/=-]{16,8000}/gu, hint: /Bearer/ },
]

/** The patterns alone. */
export const SECRET_FORMS: readonly RegExp[] = NAMED_SECRET_FORMS.map(({ pattern }) => pattern)
