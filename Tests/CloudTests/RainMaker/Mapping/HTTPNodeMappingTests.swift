// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Testing

@Suite("Mapping a node at the user's own backend")
struct HTTPNodeMappingTests {
    private let node = NodeID("node-1")
    private let secret = MappingSecret(Secret("planted-secret"))
    private let least =
        #"{"schemaVersion":1,"sendsProviderToken":true,"add":{"method":"POST","url":"https://own.example/{node_id}"}}"#

    @Test("the request is sent as described, with the provider's token as Bearer")
    func add() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", #"{"data":{"id":"r1"}}"#)
        let notes = MappingNotes(tags: ["room:hall"], metadata: #"{"floor":1}"#)
        #expect(try await backend.mapping.addMapping(node: node, secret: secret, notes: notes) == RequestID("r1"))
        #expect(
            backend.bodies == [
                [
                    "user": "user-1", "pin": "planted-secret", "tags": ["room:hall"], "about": ["data": ["floor": 1]],
                ]
            ])
        #expect(backend.proofs == ["Bearer planted-access"])
        #expect(backend.http.requests[0].url == "https://own.example/nodes/node-1/owner")
        #expect(backend.http.requests[0].headers.contains(HTTPHeader("Content-Type", "application/json")))
        try backend.http.finish()
    }

    @Test("without notes their members are omitted")
    func noNotes() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", #"{"data":{"id":7}}"#)
        #expect(try await backend.mapping.addMapping(node: node, secret: secret) == RequestID("7"))
        #expect(backend.bodies == [["user": "user-1", "pin": "planted-secret", "about": [:]]])
    }

    @Test(
        "if the answer names no request, the node's id is the request",
        arguments: ["", "{}", #"{"data":{"id":null}}"#])
    func noRequest(answer: String) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/node-1/owner", status: 201, answer)
        #expect(try await backend.mapping.addMapping(node: node, secret: secret) == RequestID("node-1"))
    }

    @Test("without a status request, the success of the request is final, and nothing more is sent")
    func noStatus() async throws {
        let backend = try OwnBackend(least)
        backend.http.expect(.post, "/node-1", status: 204, "")
        let request = try await backend.mapping.addMapping(node: node, secret: secret)
        #expect(try await backend.mapping.mappingStatus(request) == .confirmed)
        #expect(backend.http.requests.count == 1 && backend.http.requests[0].body.isEmpty)
        try backend.http.finish()
    }

    @Test(
        "each state has the words of the description",
        arguments: [
            (#""done""#, MappingStatus.confirmed), ("true", .confirmed), (#""open""#, .requested),
            (#""late""#, .timedOut),
            (#""no""#, .discarded), (#""later""#, .other("later")), ("false", .other("false")), ("7", .other("7")),
        ])
    func status(word: String, expected: MappingStatus) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.get, "/requests?id=a%26b%3D%2F%3F%23", #"{"state":\#(word)}"#)
        #expect(try await backend.mapping.mappingStatus(RequestID("a&b=/?#")) == expected)
        try backend.http.finish()
    }

    @Test(
        "a state that is missing, or is not a word, is malformed",
        arguments: ["{}", #"{"state":{}}"#, #"{"state":""}"#, ""])
    func noState(answer: String) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.get, "/requests?id=r1", answer)
        let error = await accountError { () throws(AccountError) in
            try await backend.mapping.mappingStatus(RequestID("r1"))
        }
        #expect(error?.code == .malformedAnswer && error?.isTransient == true)
    }

    @Test("a challenge is read as described, and the signature is sent in lower-case hexadecimal")
    func challenge() async throws {
        let backend = try OwnBackend()
        backend.http.expect(.post, "/challenges", #"{"id":"c/1","text":"chällenge"}"#)
        backend.http.expect(.post, "/challenges/c%2F1", "")
        #expect(backend.mapping.takesChallenges)
        let challenge = try await backend.mapping.initiateChallenge(lifetime: .seconds(360))
        #expect(challenge.request == RequestID("c/1") && challenge.challenge == Array("chällenge".utf8))
        try await backend.mapping.verifyChallenge(challenge.request, node: node, signature: [0x0F, 0xAB])
        #expect(
            backend.bodies == [
                ["user": "user-1", "seconds": 360],
                ["node": "node-1", "hex": "0fab", "all": ["by user-1: 0fab"]],
            ])
        try backend.http.finish()
    }

    @Test("a board that signs a challenge is refused before anything is sent, if the backend has no challenges")
    func noChallenges() async throws {
        let backend = try OwnBackend(least)
        #expect(!backend.mapping.takesChallenges)
        let errors = [
            await accountError { () throws(AccountError) in
                try await backend.mapping.initiateChallenge(lifetime: .seconds(360))
            },
            await accountError { () throws(AccountError) in
                try await backend.mapping.verifyChallenge(RequestID("r"), node: node, signature: [1])
            },
        ]
        #expect(errors.allSatisfy { $0?.code == .unsupported })
        try backend.http.finish()
    }

    @Test("notes that have no place in the description are refused before anything is sent")
    func unplacedNotes() async throws {
        let backend = try OwnBackend(least)
        for (notes, name) in [(MappingNotes(tags: ["a:b"]), "{tags}"), (MappingNotes(metadata: "{}"), "{metadata}")] {
            let early = await accountError { () throws(AccountError) in try backend.mapping.check(notes) }
            let late = await accountError { () throws(AccountError) in
                try await backend.mapping.addMapping(node: node, secret: secret, notes: notes)
            }
            #expect(early?.code == .unsupported && early?.message.contains(name) == true)
            #expect(late?.code == .unsupported)
        }
        try backend.mapping.check(MappingNotes())
        try backend.http.finish()
    }

    // MARK: Text from boards and servers stays a value

    @Test(
        "an id is one segment of the address, whatever its content",
        arguments: [
            ("a/../b", "a%2F..%2Fb"), ("a?b=c#d", "a%3Fb%3Dc%23d"), ("{secret_key}", "%7Bsecret_key%7D"),
            ("%2e%2e", "%252e%252e"), ("ä\r\nHost: x", "%C3%A4%0D%0AHost%3A%20x"), ("...", "..."),
        ])
    func ids(id: String, segment: String) async throws {
        let backend = try OwnBackend()
        backend.http.expect(.put, "/nodes/\(segment)/owner", "{}")
        _ = try await backend.mapping.addMapping(node: NodeID(id), secret: secret)
        try backend.http.finish()
    }

    @Test(
        "an id that would change the address is refused before anything is sent",
        arguments: ["", ".", "..", String(repeating: "x", count: 1025)])
    func badIDs(id: String) async throws {
        let backend = try OwnBackend()
        let error = await accountError { () throws(AccountError) in
            try await backend.mapping.addMapping(node: NodeID(id), secret: secret)
        }
        #expect(error?.code == .invalidInput)
        try backend.http.finish()
    }

    @Test("a value in a body stays a text: it adds no member, and placeholders in it are not replaced")
    func bodies() async throws {
        let evil = #"x","admin":true,"y":"{secret_key}"#
        let backend = try OwnBackend(user: evil)
        backend.http.expect(.put, "/nodes/node-1/owner", "{}")
        _ = try await backend.mapping.addMapping(node: node, secret: secret)
        #expect(backend.bodies[0]?["user"] == .string(evil) && backend.bodies[0]?["admin"] == nil)
    }
}
