// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainMaker
import Testing

@Suite("Deployments")
struct DeploymentTests {
    @Test(
        "a base URL is https, or http to this machine",
        arguments: [
            ("https://api.example.com", "https://api.example.com"),
            ("HTTPS://API.Example.com/", "https://api.example.com"),
            ("https://api.example.com:8443/rain/", "https://api.example.com:8443/rain"),
            ("http://127.0.0.1:39187", "http://127.0.0.1:39187"), ("http://127.8.9.1", "http://127.8.9.1"),
            ("http://localhost:1/", "http://localhost:1"), ("http://[::1]:8080", "http://[::1]:8080"),
            ("https://[2001:db8::1]", "https://[2001:db8::1]"),
        ])
    func accepted(text: String, expected: String) throws {
        #expect(try ServiceURL(text).text == expected)
    }

    @Test(
        "plain http to another machine would show passwords, however local its name looks",
        arguments: [
            "http://api.example.com", "http://192.168.1.5", "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://127.1", "http://0.0.0.0", "http://[::2]", "http://127.0.0.256", "http://2130706433",
        ])
    func insecure(text: String) async {
        #expect(await accountError { () throws(AccountError) in try ServiceURL(text) }?.code == .insecureURL)
    }

    @Test(
        "a URL that two parsers could read differently is refused",
        arguments: [
            "", "api.example.com", "ftp://api.example.com", "https://", "https:///x", "https://user@api.example.com",
            "https://user:pw@api.example.com", "https://api.example.com:0", "https://api.example.com:65536",
            "https://api.example.com:", "https://api.example.com:8x", "https://api.example.com?x=1",
            "https://api.example.com/#x", "https://api.example.com/a b", "https://api.example.com\\@evil.example",
            "https://api.example.com/a//b", "http://127.0.0.1@evil.example", "https://[::1", "https://[::1]x",
            "https://api.exämple.com", "https://api.example.com/\r\nX: y",
        ])
    func malformed(text: String) async {
        #expect(await accountError { () throws(AccountError) in try ServiceURL(text) }?.code == .invalidConfiguration)
    }

    @Test(
        "a base URL that cannot be used is refused with its cause, and its password is not shown",
        arguments: [
            ("http://::1:8080", "in brackets"), ("https://me:planted@a.example", "user name or a password"),
            ("https://a.example/?a=b", "query"), ("https://a.example#x", "fragment"),
            ("https://a.example:99999", "not a port"),
            ("https://a.example/a b", "space"), ("https:///x", "no host"), ("https://[fe80::1%25eth0]", "interface"),
        ])
    func causes(text: String, words: String) async {
        let error = await accountError { () throws(AccountError) in try ServiceURL(text) }
        #expect(error?.message.contains(words) == true && error?.message.contains("planted") == false)
    }

    @Test(
        "the version segment is added here, whether it was given or not",
        arguments: ["https://a.example/v1/", "https://a.example/v1", "https://a.example"])
    func version(base: String) throws {
        #expect(try Deployment(name: "x", base: base).base.text == "https://a.example")
    }

    @Test("Espressif's own deployments are known")
    func builtIn() {
        #expect(Deployment.global.base.text == "https://api.rainmaker.espressif.com")
        #expect(Deployment.china.claim?.text == "https://claiming.rainmaker.espressif.com.cn")
    }

    @Test(
        "a name that could leave its folder is not a profile's name",
        arguments: ["", "..", ".x", "a/b", "a b", "ä", "a\u{0}"])
    func unsafeNames(name: String) async {
        #expect(
            await accountError { () throws(AccountError) in try Deployment(name: name, base: "https://a.example") }?
                .code
                == .invalidConfiguration)
    }
}
