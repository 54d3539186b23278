/**
 * Forms of secrets that are recognised wherever they stand: cloud keys, tokens of code hosts and services, private
 * keys, credentials in URLs.
 */
export const SECRET_FORMS: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/gu,
  /\bgh[pousr]_[A-Za-z0-9]{20,255}\b/gu,
  /\bgithub_pat_[A-Za-z0-9_]{20,255}\b/gu,
  /\bglpat-[A-Za-z0-9_-]{16,}/gu,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/gu,
  /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/gu,
  /\bAIza[0-9A-Za-z_-]{35}/gu,
  /\bntn_[A-Za-z0-9]{40,}/gu,
  /\b(?:hf|npm)_[A-Za-z0-9]{30,}/gu,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/gu,
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/gu,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,100}:)[^\s@/]{1,200}(?=@)/giu,
  /(?<=\bauthorization: *(?:bearer|basic|token) +)[^\s"']+/giu,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/=-]{16,}/gu,
]
