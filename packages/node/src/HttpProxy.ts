/** The HTTP proxy that stands between this machine and the network. */
import { isThisMachine } from "@stevedore/core/ServiceConfig"
import type * as Redacted from "effect/Redacted"
import { BlockList, isIP } from "node:net"
import { domainToASCII } from "node:url"

/**
 * A proxy for both the service and storage. It is asked for a tunnel (`CONNECT`), in which it changes nothing. If it
 * refuses one for an `http:` address, as proxies do that allow tunnels only to port 443, it gets the requests
 * themselves, with the whole URL as the target.
 *
 * @category models
 */
export interface HttpProxy {
  /** Such as `http://proxy.example:3128`. Never a user or password. */
  readonly origin: string
  /** The credentials for the proxy, in the form of its header `Proxy-Authorization`. */
  readonly authorization?: Redacted.Redacted<string> | undefined
  /** What is reached without the proxy, as `no_proxy` lists it: see {@link isExcepted}. Defaults to nothing. */
  readonly except?: string | undefined
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, "$1")

const familyOf = (address: string): "ipv4" | "ipv6" => isIP(address) === 6 ? "ipv6" : "ipv4"

const isWithin = (address: string, network: string, prefix: string | undefined): boolean => {
  const bits = Number(prefix ?? (isIP(network) === 6 ? 128 : 32))
  if (isIP(network) === 0 || !/^\d*$/.test(prefix ?? "") || bits > (isIP(network) === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(network, bits, familyOf(network))
  return list.check(address, familyOf(address))
}

// The root of all names may be written or not, and punycode is how a URL has a name in another script
const nameOf = (text: string): string => {
  const name = text.replace(/^(\*?\.)+|\.+$/g, "")
  return (domainToASCII(name) || name).toLowerCase()
}

const entry = /^(?:\[([^\]]*)\](?:\/(\d+))?|([^/:]+|[^/]*:[^/]*:[^/]*?)(?:\/(\d+))?)(?::(\d+))?$/

const isEntryFor = (text: string, host: string, port: string): boolean => {
  if (text === "*") return true
  const [, bracketed, bracketedBits, plain, plainBits, onlyPort] = entry.exec(text) ?? []
  const listed = bracketed ?? plain
  if (listed === undefined || (onlyPort !== undefined && Number(onlyPort) !== Number(port))) return false
  if (isIP(host) !== 0) return isWithin(host, listed, bracketedBits ?? plainBits)
  const name = nameOf(listed)
  return name !== "" && (host === name || host.endsWith(`.${name}`))
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" }

/**
 * Whether a URL is reached without the proxy: because it is on this machine, or because the list has it. The list is
 * what curl takes as `no_proxy`, separated by commas or blanks: names, each with everything below it (`files.example`,
 * `.files.example` and `files.example.` are the same), addresses with or without brackets, networks (`10.0.0.0/8`,
 * `fd00::/8`), and `*` for everything. Beyond curl, `*.files.example` is understood, and `files.example:8443` is that
 * port only.
 *
 * @example
 * import { HttpProxy } from "@stevedore/node"
 *
 * HttpProxy.isExcepted("10.0.0.0/8, .files.example", new URL("https://10.1.2.3:9000/bucket")) // true
 * HttpProxy.isExcepted("10.0.0.0/8, .files.example", new URL("https://api.files.example")) // true
 * HttpProxy.isExcepted("10.0.0.0/8, .files.example", new URL("https://otherfiles.example")) // false
 *
 * @category predicates
 */
export const isExcepted = (except: string, url: URL): boolean => {
  if (isThisMachine(url.hostname)) return true
  const address = withoutBrackets(url.hostname)
  const host = isIP(address) === 0 ? nameOf(address) : address
  const port = url.port === "" ? defaultPorts[url.protocol] ?? "" : url.port
  return except.split(/[\s,]+/).some((text) => text !== "" && isEntryFor(text, host, port))
}
