import ipaddr from "ipaddr.js"

/** The only IPv6 block from which global unicast addresses are given out (RFC 4291 §2.4, IANA registry). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3")

/**
 * Whether an IP address (not a name) is one of the public internet. Loopback, private, link-local, carrier,
 * benchmarking, documentation, multicast, reserved, tunnelled (6to4, Teredo, NAT64) and IPv4-mapped or -compatible
 * forms of them are not.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== "unicast") return false
  return parsed.kind() === "ipv4" || (parsed as InstanceType<typeof ipaddr.IPv6>).match(GLOBAL_IPV6)
}

/** Whether two spellings name the same address; an IPv4-mapped IPv6 address equals its IPv4 form. */
export function isSameAddress(one: string, other: string): boolean {
  if (!ipaddr.isValid(one) || !ipaddr.isValid(other)) return false
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString()
}

/** The address in a URL's `hostname` (brackets removed), or `undefined` when it is a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}
