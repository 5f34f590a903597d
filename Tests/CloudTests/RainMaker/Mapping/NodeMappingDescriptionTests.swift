// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainJSON
import RainMaker
import Testing

@Suite("The description of the user's own backend")
struct NodeMappingDescriptionTests {
    private func error(_ text: String) async -> AccountError? {
        await accountError { () throws(AccountError) in
            try NodeMappingDescription(parsing: Array(text.utf8), origin: "own.json")
        }
    }

    @Test("one request is enough, and a description is written as it was read")
    func least() throws {
        let text =
            #"{"schemaVersion":1,"sendsProviderToken":true,"add":{"method":"POST","url":"https://own.example/{node_id}"}}"#
        let description = try NodeMappingDescription(parsing: Array(text.utf8), origin: "own.json")
        #expect(description.status == nil && description.add.body == nil)
        #expect(try JSONCoder.encode(description) == Array(text.utf8))
        for whole in [OwnBackend.text, OwnBackend.signingIn] {
            let all = try NodeMappingDescription(parsing: Array(whole.utf8), origin: "own.json")
            #expect(try NodeMappingDescription(parsing: JSONCoder.encode(all), origin: "own.json") == all)
        }
    }

    @Test(
        "the error names the problem, the file and the member",
        arguments: [
            ("", "not JSON"), ("[]", "the document must be an object, but it is a list"),
            (#"{"schemaVersion":"1"}"#, "\"schemaVersion\" must be a whole number"),
            (#"{"schemaVersion":2}"#, "schemaVersion is 2"),
            (#"{"schemaVersion":1}"#, "\"add\" is missing"),
            (#"{"schemaVersion":1,"add":{"method":"PUT"}}"#, "\"add.url\" is missing"),
            (#"{"schemaVersion":1,"add":7}"#, "\"add\" is not"),
        ])
    func unreadable(text: String, words: String) async {
        let found = await error(text)
        #expect(found?.code == .unreadableDefinition)
        #expect(
            found?.message.contains("own.json") == true && found?.message.contains(words) == true, "\(found as Any)")
    }

    @Test(
        "a wrong member is refused by its name",
        arguments: [
            (#""PUT""#, #""PATCH""#, "add.method: PATCH"),
            (#""pin":"{secret_key}""#, #""pin":"{secret}""#, "add.body.pin: there is no placeholder {secret}"),
            (#""user":"{user_id}","pin""#, #""user":"{request_id}","pin""#, "add: {request_id} is not known"),
            ("/{node_id}/owner", "/owner", "add: {node_id} is missing"),
            ("/{node_id}/owner", "/{node_id}/{secret_key}", "add.url: {secret_key} may not be part of an address"),
            ("https://own.example/nodes", "http://own.example/nodes", "add.url: plain http to own.example"),
            ("https://own.example/nodes", "ftp://own.example/nodes", "add.url: "),
            ("https://own.example/nodes", "https://me:pw@own.example/nodes", "add.url: "),
            (
                "https://own.example/nodes", "https://{user_id}.example/nodes",
                "add.url: the host must be written in full"
            ),
            ("https://own.example/nodes", "https://own.example/../nodes", "add.url: its path has a segment"),
            ("https://own.example/nodes", "https://own.example/no des", "add.url: "),
            ("/requests?id=", "/requests?i d=", "status.url: its query"),
            ("/requests?id=", "/requests#id=", "status.url: "),
            (#""tags":"{tags}""#, #""tags":"tags: {tags}""#, "add.body.tags: {tags} must be the whole text"),
            (#""data.id""#, #""data..id""#, "add.request: it is not a path"),
            (#""confirmed":["done","true"]"#, #""confirmed":[]"#, "status.confirmed: it is empty"),
            (#""discarded":["no"]"#, #""discarded":["done"]"#, "status: the word done appears twice"),
            (
                #""discarded":["no"]"#, #""discarded":["no"],"dropped":[]"#,
                "it has an unknown member, status.dropped"
            ),
            (
                #""discarded":["no"]"#, #""discarded":["no"],"dropped":null"#,
                "it has an unknown member, status.dropped"
            ),
            (#""requested":["open"]"#, #""requested":"open""#, "\"status.requested\" is not"),
            ("/challenges/{request_id}", "/challenges", "verify: {request_id} is missing"),
            (#""verify":{"#, #""verfy":{"#, "it has an unknown member, verfy"),
            (#"{"method":"GET","url""#, #"{"method":"GET","body":{},"url""#, "status.body: a GET has no body"),
        ])
    func wrongMember(part: String, replacement: String, words: String) async {
        let text = OwnBackend.text.replacing(part, with: replacement)
        let found = await error(text)
        #expect(found?.code == .unreadableDefinition)
        #expect(found?.message.contains(words) == true, "\(found as Any)")
    }

    @Test(
        "the description must name the proof: its own sign-in, or the provider's token by an explicit setting",
        arguments: [
            (#""sendsProviderToken":true,"#, "", "signIn: it is missing"),
            (#""sendsProviderToken":true,"#, #""sendsProviderToken":false,"#, "set sendsProviderToken to true"),
            (#""sendsProviderToken":true,"#, #""sendsProviderToken":null,"#, "signIn: it is missing"),
            (#""sendsProviderToken":true"#, #""sendsProviderToken":"true""#, "\"sendsProviderToken\" is not"),
            (#""sendsProviderToken":true"#, #""sendsProviderToken":1"#, "\"sendsProviderToken\" is not"),
            (
                #""sendsProviderToken":true"#,
                #""sendsProviderToken":true,"signOut":{"method":"POST","url":"https://own.example/out"}"#,
                "signOut: it needs signIn"
            ),
        ])
    func proof(part: String, replacement: String, words: String) async {
        await expectRefused(OwnBackend.text.replacing(part, with: replacement), words)
    }

    @Test(
        "a wrong member of the sign-in is refused by its name",
        arguments: [
            (#""proof":"{code}""#, #""proof":"x""#, "signIn: {code} is missing"),
            ("/sessions\"", "/sessions?c={code}\"", "signIn.url: {code} may not be part of an address"),
            (#""of":"{user_id}""#, #""of":"{node_id}""#, "signIn: {node_id} is not known"),
            (#""of":"{user_id}""#, #""of":"{secret_key}""#, "signIn: {secret_key} is not known"),
            (#""client":"backend-1","#, "", "\"signIn.client\" is missing"),
            (#""client":"backend-1""#, #""client":"""#, "signIn.client: it is empty"),
            (#""client":"backend-1""#, #""client":7"#, "\"signIn.client\" is not"),
            (#","token":"data.token""#, "", "\"signIn.token\" is missing"),
            (#""token":"data.token""#, #""token":"data..token""#, "signIn.token: it is not a path"),
            (
                #""method":"POST","url":"https://own.example/sessions""#,
                #""method":"GET","url":"https://own.example/sessions""#, "signIn.body: a GET has no body"
            ),
            ("https://own.example/sessions\"", "http://own.example/sessions\"", "signIn.url: plain http"),
            (#""method":"DELETE""#, #""method":"PURGE""#, "signOut.method: PURGE"),
            ("/sessions/current", "/sessions/{code}", "signOut.url: {code} may not be part"),
            ("/sessions/current", "/sessions/{node_id}", "signOut: {node_id} is not known"),
            (#""signOut":{"#, #""signout":{"#, "it has an unknown member, signout"),
            (#""user":"{user_id}","pin""#, #""user":"{code}","pin""#, "add: {code} is not known"),
        ])
    func wrongSignIn(part: String, replacement: String, words: String) async {
        #expect(OwnBackend.signingIn.contains(part))
        await expectRefused(OwnBackend.signingIn.replacing(part, with: replacement), words)
    }

    private func expectRefused(_ text: String, _ words: String) async {
        let found = await error(text)
        #expect(found?.code == .unreadableDefinition)
        #expect(found?.message.contains(words) == true, "\(found as Any)")
    }

    @Test("challenge and verify need each other")
    func halfAChallenge() async throws {
        guard case .object(let members) = try JSONValue(parsing: Array(OwnBackend.text.utf8)) else { return }
        for name in ["challenge", "verify"] {
            let half = JSONValue.object(members.filter { $0.name != name })
            let found = await error(String(decoding: half.serialized(), as: UTF8.self))
            #expect(found?.message.contains("\(name): it is missing") == true)
        }
    }

    @Test("plain http is allowed only for this machine")
    func loopback() async {
        for host in ["127.0.0.1:8080", "localhost", "[::1]:1"] {
            #expect(await error(OwnBackend.text.replacing("https://own.example", with: "http://\(host)")) == nil)
        }
    }
}
