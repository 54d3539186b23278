/** What unwanted text is about. */
export const SAFETY_CATEGORIES = ["code_injection", "credentials", "pii", "profanity", "violence", "dangerous"] as const

export type SafetyCategory = (typeof SAFETY_CATEGORIES)[number]

/** How much is filtered; each level filters all that the one before does. */
export const SAFETY_LEVELS = ["minimal", "standard", "strict", "maximum"] as const

export type SafetyLevel = (typeof SAFETY_LEVELS)[number]

/** A pattern (see `pattern.ts`) that text must not match, and the level from which on it counts. */
export interface SafetyRule {
  readonly name: string
  readonly category: SafetyCategory | "custom"
  readonly pattern: string
  readonly from?: SafetyLevel
  /** A closer look at a match, where its form alone would say too much. */
  readonly check?: (text: string) => boolean
}

export const SAFETY_RULES: readonly SafetyRule[] = [
  // Secrets: forms that their issuers document, so that ordinary text does not look like one.
  { name: "private-key", category: "credentials", from: "minimal", pattern: "-----begin [a-z ]{0,20}private key-----" },
  { name: "aws-access-key", category: "credentials", from: "minimal", pattern: "\\b(akia|asia)[0-9a-z]{16}\\b" },
  {
    name: "github-token",
    category: "credentials",
    from: "minimal",
    pattern: "\\b(gh[pousr]_[0-9a-z]{36}|github_pat_[0-9a-z_]{22,90})",
  },
  { name: "slack-token", category: "credentials", from: "minimal", pattern: "\\bxox[abprs]-[0-9a-z-]{10,80}" },
  { name: "google-api-key", category: "credentials", from: "minimal", pattern: "\\baiza[0-9a-z_-]{35}" },
  { name: "stripe-key", category: "credentials", from: "minimal", pattern: "\\b[rs]k_live_[0-9a-z]{16,99}" },
  {
    name: "json-web-token",
    category: "credentials",
    from: "standard",
    pattern: "\\beyj[0-9a-z_-]{10,600}\\.eyj[0-9a-z_-]{10,600}\\.[0-9a-z_-]{10,600}",
  },
  {
    name: "password-in-address",
    category: "credentials",
    from: "standard",
    pattern: "\\b[a-z]{2,10}://[^\\s/:@]{1,64}:[^\\s/:@]{1,64}@",
  },
  {
    name: "password-given",
    category: "credentials",
    from: "strict",
    pattern: "\\b(password|passwd|api[_ -]?key|secret) {0,2}(=|:|is) {0,2}[\"']?[^\\s\"',;]{6,64}",
  },

  // Commands that destroy a machine or its data.
  {
    name: "delete-everything",
    category: "dangerous",
    from: "minimal",
    pattern: "\\brm +(-[a-z]+ +){1,4}(--no-preserve-root +)?(/\\*?|~/?|\\$home/?)(\\s|;|&|\"|'|`|$)",
  },
  {
    name: "overwrite-disk",
    category: "dangerous",
    from: "minimal",
    pattern: "\\bdd +if=[^\\s]{1,80} +of=/dev/[a-z]{2,8}",
  },
  {
    name: "format-disk",
    category: "dangerous",
    from: "minimal",
    pattern: "\\b(mkfs(\\.[a-z0-9]{2,5})? +/dev/[a-z]|format +c:)",
  },
  { name: "fork-bomb", category: "dangerous", from: "minimal", pattern: ":\\(\\) ?\\{ ?:\\|: ?& ?\\} ?; ?:" },
  {
    name: "download-and-run",
    category: "dangerous",
    from: "standard",
    pattern: "\\b(curl|wget) [^|\\n]{1,200}\\| ?(sudo )?(ba|z|da)?sh\\b",
  },
  { name: "open-to-all", category: "dangerous", from: "strict", pattern: "\\bchmod +(-r +)?777 +/" },
  {
    name: "disable-security",
    category: "dangerous",
    from: "maximum",
    pattern: "\\b(setenforce 0|ufw disable|iptables -f)\\b",
  },

  // Code meant to be run by someone else's interpreter.
  {
    name: "sql-drop",
    category: "code_injection",
    from: "standard",
    pattern: "['\"] ?; ?(drop|truncate) (table|database)\\b",
  },
  {
    name: "sql-always-true",
    category: "code_injection",
    from: "standard",
    pattern: "['\"] or ['\"]?1['\"]? ?= ?['\"]?1",
  },
  { name: "sql-union", category: "code_injection", from: "standard", pattern: "\\bunion (all )?select\\b" },
  { name: "script-element", category: "code_injection", from: "standard", pattern: "<script[ >]" },
  { name: "script-address", category: "code_injection", from: "standard", pattern: "[\"'(= ]javascript:" },
  {
    name: "event-attribute",
    category: "code_injection",
    from: "strict",
    pattern: "<[a-z]{1,12} [^>]{0,200}\\bon(error|load|click|mouseover) ?=",
  },
  {
    name: "shell-from-code",
    category: "code_injection",
    from: "strict",
    pattern: "\\b(os\\.system|subprocess\\.(popen|call|run)|child_process\\.exec(sync)?) ?\\(",
  },
  { name: "eval", category: "code_injection", from: "maximum", pattern: "\\b(eval|exec) ?\\(" },
  { name: "path-traversal", category: "code_injection", from: "maximum", pattern: "(\\.\\./){3,20}" },

  // People.
  {
    name: "card-number",
    category: "pii",
    from: "standard",
    pattern: "\\b[3-6][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,4}([ -]?[0-9]{1,3})?\\b",
    check: isCardNumber,
  },
  { name: "us-social-security", category: "pii", from: "standard", pattern: "\\b[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}\\b" },
  {
    name: "iban",
    category: "pii",
    from: "standard",
    pattern: "\\b[a-z]{2}[0-9]{2}( ?[0-9a-z]{4}){3,7}( ?[0-9a-z]{1,3})?\\b",
    check: isIban,
  },
  {
    name: "email-address",
    category: "pii",
    from: "strict",
    pattern: "\\b[0-9a-z._%+-]{1,64}@[0-9a-z-]{1,63}(\\.[0-9a-z-]{1,63}){0,4}\\.[a-z]{2,24}\\b",
  },
  {
    name: "phone-number",
    category: "pii",
    from: "strict",
    pattern: "(\\+[0-9]{1,3}[ .-]?|\\b)(\\([0-9]{2,4}\\)[ .-]?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{3,4}\\b",
  },
  { name: "network-address", category: "pii", from: "maximum", pattern: "\\b[0-9]{1,3}(\\.[0-9]{1,3}){3}\\b" },

  {
    name: "strong-language",
    category: "profanity",
    from: "standard",
    pattern: "\\b(mother)?fuck(s|ed|er|ers|ing)?\\b",
  },
  {
    name: "coarse-language",
    category: "profanity",
    from: "strict",
    pattern: "\\b((bull)?shit(s|ty)?|bitch(es)?|assholes?|bastards?|cunts?)\\b",
  },
  {
    name: "mild-language",
    category: "profanity",
    from: "maximum",
    pattern: "\\b(damn(ed)?|crap|piss(ed)?|bloody hell)\\b",
  },

  { name: "call-to-self-harm", category: "violence", from: "standard", pattern: "\\b(kill|hang|hurt) yourself\\b" },
  {
    name: "threat",
    category: "violence",
    from: "strict",
    pattern: "\\b(i will|i'll|we will|we'll|going to) (kill|murder|stab|shoot|hurt) (you|him|her|them)\\b",
  },
  {
    name: "weapon-instructions",
    category: "violence",
    from: "strict",
    pattern:
      "\\b(how to|instructions (for|to)|steps to) (build|make|assemble|building|making) an? ([a-z]{1,12} " +
      ")?(bomb|explosive|grenade|silencer)\\b",
  },
  {
    name: "graphic-violence",
    category: "violence",
    from: "maximum",
    pattern: "\\b(behead(ed|ing)?|dismember(ed|ing)?|disembowel(led|ling)?|tortur(e|ed|ing) (him|her|them))\\b",
  },
]

/** Luhn's check digit (ISO/IEC 7812-1), over 13 to 19 digits. */
function isCardNumber(text: string): boolean {
  const digits = Array.from(text.replace(/[^0-9]/g, ""), Number)
  if (digits.length < 13 || digits.length > 19) return false
  const sum = digits
    .reverse()
    .reduce((total, digit, at) => total + (at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0)
  return sum % 10 === 0
}

/** The check digits of ISO 13616: the rearranged number leaves 1 when divided by 97. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(" ", "").toUpperCase()
  if (compact.length < 15 || compact.length > 34) return false
  let rest = 0
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97
  }
  return rest === 1
}
