// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("The methods of rainctl serve")
struct ServedMethodTests {
    private func given(_ method: String, _ params: JSONValue) throws -> ServedMethod.Given {
        try ServedMethod.named(method).given(params.members ?? [])
    }

    @Test("each command is a method or is excluded with a reason, and each exclusion is a command")
    func tree() {
        let methods = Set(ServedMethod.all.map(\.name))
        let excluded = Set(ServedMethod.excluded.keys)
        #expect(methods.isDisjoint(with: excluded))
        #expect(methods.union(excluded) == Set(ServedMethod.commandNames))
        #expect(methods.count > 90)
    }

    @Test("docs/from-any-language.md names each excluded command")
    func documentedExclusions() throws {
        let page = try readFile(Repository.path("docs/from-any-language.md"))
        for name in ServedMethod.excluded.keys where name != "serve" {
            #expect(page.contains("`\(name)`"), "\(name)")
        }
    }

    @Test(
        "the members of a method have different names, and the command takes each of them",
        arguments: ServedMethod.commandNames)
    func members(of name: String) throws {
        guard ServedMethod.excluded[name] == nil else { return }
        let method = try ServedMethod.named(name)
        #expect(Set(method.allMembers.map(\.name)).count == method.allMembers.count)
        let params = method.allMembers.map { member in
            let text = JSONValue.string(member.values?.first ?? "1")
            let value: JSONValue =
                switch member.kind {
                case .boolean: true
                case .string, .secret: text
                case .json: ["a": 1]
                case .strings: [text, "2"]
                case .values: ["Light.Power": true]
                }
            return JSONValue.Member(member.name, value)
        }
        let given = try method.given(params)
        do {
            _ = try method.command.parseAsRoot(given.arguments)
        } catch {
            let message = method.command.message(for: error)
            #expect(!message.contains("Unknown option") && !message.contains("Unexpected argument"), "\(message)")
        }
    }

    @Test("each option for a file is a secret's, or the file of something else")
    func files() {
        let files = Set(ServedMethod.all.flatMap(\.members).map(\.name).filter { $0.hasSuffix("_file") })
        let secrets = Set(
            ServedMethod.all.flatMap(\.allMembers).filter { $0.kind == .secret }.map { $0.name + "_file" })
        #expect(files.subtracting(secrets) == ["ca_file", "client_secret_file", "secret_file"])
        #expect(secrets.isSubset(of: files))
    }

    static let mapped: [(method: String, params: JSONValue, arguments: [String])] = [
        ("node.list", [:], []),
        ("node.list", ["timeout": 2.5, "profile": nil], ["--timeout=2.5"]),
        ("node.list", ["account": "-x", "timeout": "500ms"], ["--timeout=500ms", "--account=-x"]),
        ("node.status", ["node": "-lamp"], ["--", "-lamp"]),
        (
            "node.params.set",
            ["nodes": "lamp", "values": ["Light.Power": true, "Light.Name": "a b", "Light.Hue": 7], "wait": true],
            ["--wait", "--", "lamp", "Light.Power=true", "Light.Name=a b", "Light.Hue=7"]
        ),
        ("node.params.set", ["values": ["A.b=c"], "nodes": "n", "wait": false], ["--", "n", "A.b=c"]),
        ("node.params.get", ["node": "n", "paths": ["A.b", "C"]], ["--", "n", "A.b", "C"]),
        ("account.data.set", ["key": "k", "value": ["dark": true]], ["--", "k", "{\"dark\":true}"]),
        ("provision", ["events": true, "metadata": [:]], ["--metadata={}", "--events=ndjson"]),
        ("automation.edit", ["automation": "a", "any": false], ["--no-any", "--", "a"]),
        ("device.discover", ["service": ["u", "v"]], ["--service=u", "--service=v"]),
    ]

    @Test("params become the command's arguments", arguments: mapped)
    func arguments(of case: (method: String, params: JSONValue, arguments: [String])) throws {
        #expect(try given(`case`.method, `case`.params).arguments == `case`.arguments)
    }

    static let refused: [(method: String, params: JSONValue, words: String)] = [
        ("node.list", ["nodes": "x"], "has no member \"nodes\""),
        ("node.list", ["timeout": true], "timeout must be a string or a number"),
        ("node.list", ["timeout": ["planted"]], "timeout must be"),
        ("node.status", ["node": ["planted"]], "node must be"),
        ("node.status", ["node": "a\u{0}b"], "NUL"),
        ("node.params.set", ["values": ["A.b": 1]], "values also needs nodes"),
        ("node.params.set", ["nodes": "n", "wait": 1], "wait must be true or false"),
        ("node.params.get", ["node": "n", "paths": [["planted"]]], "paths must be an array of strings"),
        ("provision", ["passphrase": 12345678], "passphrase must be a string"),
        ("provision", ["events": false], "events must be"),
        ("provision", ["passphrase_stdin": true], "as the member passphrase"),
        ("provision", ["json": true], "an option of the server"),
        ("provision", ["log_file": "/x"], "an option of the server"),
        ("login", ["paste": true], "needs a terminal"),
        ("device.send", ["raw": true], "needs a terminal"),
    ]

    @Test("a member that does not fit is refused, and its value is not repeated", arguments: refused)
    func refusal(of case: (method: String, params: JSONValue, words: String)) throws {
        let failure = try #require(throws: CommandFailure.self) { try given(`case`.method, `case`.params) }
        #expect(failure.reason == "bad_params")
        #expect(failure.message.contains(`case`.words), "\(failure.message)")
        #expect(!failure.message.contains("planted"))
    }

    @Test("secrets are not among the arguments")
    func secrets() throws {
        let params: JSONValue = [
            "pop": "planted-pop", "passphrase": "planted-pass", "ssid": "Home", "ap_password": "planted-ap",
        ]
        let given = try given("provision", params)
        #expect(!given.arguments.joined().contains("planted"))
        #expect(Set(given.secrets.keys) == ["pop", "passphrase", "ap_password"])
        #expect(given.secrets["pop"]?.revealString() == "planted-pop")
        _ = try Provision.parseAsRoot(given.arguments)
    }

    static let unknown: [(name: String, reason: String)] = [
        ("node", "no_such_command"), ("node.lst", "no_such_command"), ("", "no_such_command"),
        ("node..list", "no_such_command"),
        ("node list", "no_such_command"), ("help", "no_such_command"), ("account.token", "not_served"),
        ("serve", "not_served"),
    ]

    @Test("a name that is not a method is refused", arguments: unknown)
    func unknownMethod(name: String, reason: String) throws {
        let error = try #require(throws: RPCError.self) { try ServedMethod.named(name) }
        #expect(error.number == -32601)
        #expect(error.document.contains("\"reason\":\"\(reason)\""))
    }
}
