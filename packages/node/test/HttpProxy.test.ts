import { assert, describe, it } from "@effect/vitest"
import { HttpProxy } from "../src/index.js"

const isExcepted = (except: string, url: string) => HttpProxy.isExcepted(except, new URL(url))

describe("HttpProxy.isExcepted", () => {
  it.each<readonly [except: string, url: string]>([
    ["files.example", "https://files.example"],
    ["files.example", "https://api.files.example:8443"],
    [".files.example", "https://files.example"],
    ["*.files.example", "https://api.files.example"],
    ["files.example.", "https://files.example"],
    ["files.example", "https://files.example./a"],
    [" Other.Example\t,  FILES.example ", "https://files.example"],
    ["other.example files.example", "https://files.example"],
    ["files.example:8443", "https://files.example:8443"],
    ["files.example:443", "https://files.example"],
    ["bücher.example", "https://bücher.example"],
    ["*", "https://files.example"],
    ["other.example, *", "https://files.example"],
    ["10.1.2.3", "https://10.1.2.3:9000"],
    ["10.0.0.0/8", "http://10.255.1.2"],
    ["10.1.2.3/8", "http://10.255.1.2"],
    ["192.168.7.64/26", "http://192.168.7.127"],
    ["0.0.0.0/0", "http://203.0.113.1"],
    ["10.1.2.3:9000", "https://10.1.2.3:9000"],
    ["fd00::1", "https://[fd00::1]:9000"],
    ["FD00:0:0::0001", "https://[fd00::1]"],
    ["[fd00::1]", "https://[fd00::1]"],
    ["[fd00::1]:9000", "https://[fd00::1]:9000"],
    ["fd00::/8", "https://[fdff::1]"],
    ["[fd00::]/8", "https://[fdff::1]"],
    ["2001:db8::/33", "https://[2001:db8:7fff::1]"],
    // this machine, whatever the list says
    ["", "http://127.8.7.6:4600"],
    ["", "http://localhost"],
    ["", "http://[::1]:4600"]
  ])("by %j, %s is reached without the proxy", (except, url) => {
    assert.isTrue(isExcepted(except, url))
  })

  it.each<readonly [except: string, url: string]>([
    ["", "https://files.example"],
    ["files.example", "https://otherfiles.example"],
    ["api.files.example", "https://files.example"],
    ["example", "https://files.example.org"],
    ["files.example:8443", "https://files.example"],
    ["10.0.0.0/8", "http://11.0.0.1"],
    ["10.0.0.0/33", "http://10.0.0.1"],
    ["10.0.0.0/x", "http://10.0.0.1"],
    ["192.168.7.64/26", "http://192.168.7.128"],
    ["10.1.2.3:9001", "https://10.1.2.3:9000"],
    ["1.2.3", "http://10.1.2.3"],
    ["fd00::/8", "https://[fe00::1]"],
    ["[fd00::1]:9001", "https://[fd00::1]:9000"],
    ["10.0.0.0/8", "https://10.example"],
    ["/, :, [], ::/, ., *.", "https://files.example"]
  ])("by %j, %s is not", (except, url) => {
    assert.isFalse(isExcepted(except, url))
  })
})
