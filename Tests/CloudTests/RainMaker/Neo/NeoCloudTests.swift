// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainHTTP
import RainIO
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import RainMaker

/// A deployment of RainMaker Neo that plays a script, with a signed-in user.
private struct ScriptedNeo {
    let http = ScriptedHTTPClient()
    let clock = ManualWallClock()
    let cloud: NeoCloud

    init(identity: Secret? = Secret("planted-identity")) throws {
        let deployment = try Deployment(name: "neo", base: "http://127.0.0.1:1/prod")
        let tokens = Tokens(
            access: Secret("planted-access"), refresh: Secret("planted-refresh"), identity: identity,
            received: UnixTime(seconds: 0))
        let saved = SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "ada@example.com", tokens: tokens)
        let store = InMemoryCredentialStore([try CredentialKey("neo"): saved])
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: store, clock: clock, timer: ManualClock())
        let tools = LiveTools(
            opener: NoStreams(), hashes: OpenSSLHashes.self, sha1: OpenSSLHashes.sha1,
            randomBytes: { [UInt8](repeating: 7, count: $0) }, clock: clock, sleep: { _ in })
        let services = try NeoServices(
            accounts: "http://127.0.0.1:2", region: "us-east-1", broker: "x-ats.iot.us-east-1.amazonaws.com")
        cloud = NeoCloud(deployment.base, services, session: session, http: http, tools: tools)
    }

    func issues(_ number: Int, ends: Double = 3600) {
        http.expect(
            .post, "/prod/v1/user/credentials",
            #"{"access_key_id":"A\#(number)","secret_access_key":"planted-secret","session_token":"planted-token","expiration":\#(Int(clock.now.seconds + ends))}"#
        )
    }

    func groups(status: Int = 200, _ body: String = #"{"groups":[]}"#) {
        http.expect(.get, "/prod/v1/groups", status: status, body)
    }

    /// The keys that signed the requests; nil for a request without a signature.
    var keys: [String?] {
        http.requests.map { request in
            request.authorization.flatMap { header in
                header.split(separator: "=").dropFirst().first.map { String($0.prefix { $0 != "/" }) }
            }
        }
    }
}

private struct NoStreams: StreamOpener {
    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream {
        throw ByteStreamError(.unreachable, peer: url, message: "no broker")
    }
}

@Suite("Credentials of RainMaker Neo")
struct NeoCredentialTests {
    @Test("both tokens of the sign-in are exchanged once, and every request is signed")
    func exchange() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups()
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        _ = try await neo.cloud.groups(withSubgroups: true)
        #expect(neo.http.requests[0].json == ["id_token": "planted-identity"])
        #expect(neo.http.requests[0].authorization == "Bearer planted-access")
        #expect(neo.keys[1...] == ["A1", "A1"])
        let names = neo.http.requests[1].headers.map { $0.name.lowercased() }
        #expect(["x-amz-date", "x-amz-security-token", "authorization"].allSatisfy(names.contains))
        try neo.http.finish()
    }

    @Test("they are renewed five minutes before their end")
    func ageing() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        neo.clock.advance(seconds: 3299)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        neo.clock.advance(seconds: 1)
        neo.issues(2)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        #expect(neo.keys.compactMap(\.self).filter { $0.hasPrefix("A") } == ["A1", "A1", "A2"])
        try neo.http.finish()
    }

    @Test("after a 403 the request is sent once more with new ones, and a second 403 is final")
    func refusal() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(status: 403, #"{"message":"The security token included in the request is expired"}"#)
        neo.issues(2)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        neo.groups(status: 403, #"{"message":"Forbidden"}"#)
        neo.issues(3)
        neo.groups(status: 403, #"{"message":"Forbidden"}"#)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.code == .forbidden && error?.status == 403)
        #expect(error?.message.contains("planted") == false)
        try neo.http.finish()
    }

    @Test("a session without an ID token cannot have any")
    func noIdentity() async throws {
        let neo = try ScriptedNeo(identity: nil)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.code == .expired)
        #expect(neo.http.requests.isEmpty)
    }

    @Test(
        "an answer without a member is not from Neo",
        arguments: [
            #"{"access_key_id":"A"}"#, #"{"access_key":"A","secret_key":"b","session_token":"c"}"#, "[]",
            #"{"access_key_id":"A","secret_access_key":"b","session_token":"c","expiration":"2030-01-01T00:00:00Z"}"#,
            #"{"access_key_id":"A","secret_access_key":"b","session_token":"c","expiration":true}"#,
        ])
    func malformed(body: String) async throws {
        let neo = try ScriptedNeo()
        neo.http.expect(.post, "/prod/v1/user/credentials", body)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.code == .malformedAnswer)
    }
}

@Suite("Signatures of RainMaker Neo with a wrong clock")
struct NeoClockTests {
    private static let mismatch =
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method."

    private func refuses(
        _ neo: ScriptedNeo, _ words: String, ahead seconds: Double, type: String? = nil, hasDate: Bool = true
    ) {
        let date = CivilTime(neo.clock.now + seconds).httpDate
        var headers = [HTTPHeader("Content-Type", "application/json")]
        if hasDate { headers.append(HTTPHeader("Date", date)) }
        if let type { headers.append(HTTPHeader("x-amzn-ErrorType", type)) }
        let body: JSONValue = ["message": .string(words)]
        let response = HTTPResponse(status: 403, headers: headers, body: body.serialized())
        neo.http.expect(.get, "/prod/v1/groups") { _ in response }
    }

    private func moments(_ neo: ScriptedNeo) -> [String] {
        neo.http.requests.compactMap { request in request.headers.first { $0.name == "X-Amz-Date" }?.value }
    }

    @Test(
        "the request is signed again with the server's time, and so are later ones",
        arguments: [
            ("Signature expired: 20300101T000000Z is now earlier than 20300102T000000Z", 90_000.0, nil),
            ("Signature not yet current: 20300101T000000Z is still later", -90_000, nil),
            ("Bad request", 90_000, "RequestTimeTooSkewed"), (mismatch, 90_000, nil), (mismatch, -301, nil),
            ("x", 3600, "InvalidSignatureException:http://internal.amazon.com/"),
        ] as [(String, Double, String?)])
    func corrected(words: String, ahead: Double, type: String?) async throws {
        let neo = try ScriptedNeo()
        neo.clock.advance(seconds: 1_000_000)
        neo.issues(1, ends: 3600 + ahead)
        refuses(neo, words, ahead: ahead, type: type)
        neo.groups()
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        _ = try await neo.cloud.groups(withSubgroups: true)
        let server = CivilTime(neo.clock.now + ahead).basicText
        #expect(moments(neo).suffix(2) == [server, server] && moments(neo).count == 3)
        // Their end is by the server's clock, so they are not fetched again.
        #expect(neo.keys.compactMap(\.self).filter { $0.hasPrefix("A") } == ["A1", "A1", "A1"])
        try neo.http.finish()
    }

    @Test("if the server's time does not help, the error has the difference, and the time is the machine's again")
    func useless() async throws {
        let neo = try ScriptedNeo()
        neo.clock.advance(seconds: 1_000_000)
        neo.issues(1)
        refuses(neo, "Signature expired", ahead: -90_000)
        refuses(neo, "Signature expired", ahead: -90_000)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.message.contains("25 h 0 min behind this machine's") == true, "\(String(describing: error))")
        #expect(error?.serverMessage == nil && error?.status == 403)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        #expect(moments(neo).last == CivilTime(neo.clock.now).basicText)
        try neo.http.finish()
    }

    @Test("without the server's time, the error names the clocks")
    func noDate() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        refuses(neo, "Signature expired", ahead: 0, hasDate: false)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.message.contains("more than five minutes") == true)
        try neo.http.finish()
    }

    @Test("a signature that does not match at the right time is about the credentials")
    func wrongKey() async throws {
        let neo = try ScriptedNeo()
        neo.clock.advance(seconds: 1_000_000)
        neo.issues(1)
        refuses(neo, Self.mismatch, ahead: 299)
        neo.issues(2)
        refuses(neo, Self.mismatch, ahead: 299)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.code == .forbidden && error?.serverMessage == Self.mismatch)
        try neo.http.finish()
    }

    @Test("credentials that have ended and a wrong clock need two more requests")
    func both() async throws {
        let neo = try ScriptedNeo()
        neo.clock.advance(seconds: 1_000_000)
        neo.issues(1)
        refuses(neo, "The security token included in the request is invalid.", ahead: 90_000)
        neo.issues(2)
        refuses(neo, Self.mismatch, ahead: 90_000)
        neo.groups()
        _ = try await neo.cloud.groups(withSubgroups: true)
        try neo.http.finish()
    }

    @Test("the server's text is in one member only", arguments: [400, 401, 404, 500, 503])
    func once(status: Int) async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(status: status, #"{"message":"planted words"}"#)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.serverMessage == "planted words" && error?.message.contains("planted") == false)
    }
}

@Suite("Groups of RainMaker Neo")
struct NeoGroupTests {
    private static let list = """
        {"groups":[{"group_id":"g12345","group_name":"Home","access_type":"primary","node_ids":["n1","n2","n/3"],
        "subgroups":[{"subgroup_id":"zzz","subgroup_name":"Hall","node_ids":["n1"]},
        {"subgroup_id":"abc","subgroup_name":"Kitchen","node_ids":["n1","n2"]}]},
        {"group_id":"a+b","group_name":"Evil","node_ids":["n9"]}]}
        """

    @Test("the name of a shadow has the sorted sub-groups, and an id that would reach other topics is left out")
    func shadows() throws {
        let json = try JSONValue(parsing: Array(Self.list.utf8))
        let groups = (json["groups"]?.array ?? []).compactMap { NeoGroup($0) }
        #expect(groups.map(\.id) == ["g12345"])
        #expect(groups[0].places.map(\.shadow) == ["params-g12345-abc-zzz", "params-g12345-abc"])
        #expect(groups[0].places.map(\.node) == [NodeID("n1"), NodeID("n2")])
        let shared = groups[0].nodeGroup
        #expect(shared.subgroups?.map(\.id) == ["g12345/zzz", "g12345/abc"] && shared.isPrimary == true)
        #expect(shared.subgroups?.first?.parent == "g12345" && shared.nodes?.count == 2)
    }

    @Test(
        "a member of another type is an error: it does not empty a group, or make the user an owner",
        arguments: [
            #"{"group_id":"g1","node_ids":"n1"}"#, #"{"group_id":"g1","access_type":7}"#,
            #"{"group_id":"g1","subgroups":{}}"#, #"{"group_id":"g1","group_name":[]}"#,
            #"{"group_id":"g1","subgroups":[{"subgroup_id":"abc","node_ids":{}}]}"#,
        ])
    func wrongTypes(group: String) async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(#"{"groups":[\#(group)]}"#)
        let error = await accountError { () throws(AccountError) in _ = try await neo.cloud.groups(withSubgroups: true)
        }
        #expect(error?.code == .malformedAnswer)
    }

    @Test("a list of schedules of another type is not taken for an empty one, which would replace all schedules")
    func wrongSchedules() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(#"{"groups":[{"group_id":"g1","node_ids":["n1"]}]}"#)
        neo.http.expect(.get, "/prod/v1/groups/g1/nodes/n1/schedules", #"{"schedules":{"id":"a"}}"#)
        let change = ParameterChange(
            NeoSchedules.path, [["id": "b", "operation": "add", "name": "B", "triggers": [["m": 60, "d": 127]]]])
        let error = await accountError { () throws(AccountError) in
            try await neo.cloud.set([change], at: NodeID("n1"))
        }
        #expect(error?.code == .malformedAnswer)
        try neo.http.finish()
    }

    @Test("a history whose pages are empty and never end is an error")
    func endlessHistory() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(#"{"groups":[{"group_id":"g1","node_ids":["n1"]}]}"#)
        let request = SeriesRequest(
            node: NodeID("n1"), parameter: ParameterPath(component: "Room", parameter: "Heat"), kind: .simple,
            dataType: "float", start: UnixTime(seconds: 0), end: UnixTime(seconds: 60))
        let page =
            "/prod/v1/groups/g1/nodes/n1/timeseries/raw?key=Room.Heat&data_type=float&start_time=0&end_time=59999&page_size=200"
        neo.http.expect(.get, page, #"{"data":[],"next_key":5}"#)
        let error = await accountError { () throws(AccountError) in
            _ = try await neo.cloud.seriesPage(request, page: nil)
        }
        #expect(error?.code == .malformedAnswer)
        try neo.http.finish()
    }

    @Test(
        "changes go to groups and sub-groups by their ids, and what Neo does not have is refused before anything is sent"
    )
    func changes() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.http.expect(.post, "/prod/v1/groups", status: 201, #"{"group_id":"g12345"}"#)
        #expect(try await neo.cloud.createGroup(NodeGroupChange(name: "Home"), nodes: []) == "g12345")
        neo.http.expect(.post, "/prod/v1/groups/g12345/subgroups", status: 201, #"{"subgroup_id":"abc"}"#)
        neo.http.expect(.put, "/prod/v1/groups/g12345/subgroups/abc/nodes/n1", "")
        let part = try await neo.cloud.createGroup(
            NodeGroupChange(name: "Kitchen", parent: "g12345"), nodes: [NodeID("n1")])
        #expect(part == "g12345/abc")
        neo.http.expect(.patch, "/prod/v1/groups/g12345/subgroups/abc", #"{"message":"success"}"#)
        try await neo.cloud.changeGroup(part, NodeGroupChange(name: "Galley"))
        #expect(neo.http.requests.last?.json == ["subgroup_name": "Galley"])
        try neo.http.finish()
        let count = neo.http.requests.count
        for change in [
            NodeGroupChange(type: "room"), NodeGroupChange(summary: "x"), NodeGroupChange(parent: "g12345"),
            NodeGroupChange(customData: [:]), NodeGroupChange(metadata: [:]),
        ] {
            let error = await accountError { () throws(AccountError) in try await neo.cloud.changeGroup(part, change) }
            #expect(error?.code == .unsupported && error?.message.contains("RainMaker Neo") == true)
        }
        for id in ["", "a/b/c", "a+b", "../users", "g1/"] {
            let error = await accountError { () throws(AccountError) in try await neo.cloud.removeGroup(id) }
            #expect(error?.code == .rejected, "\(id)")
        }
        #expect(neo.http.requests.count == count)
    }

    @Test("every call that Neo does not have names itself")
    func unsupported() async throws {
        let cloud = try ScriptedNeo().cloud
        let node = NodeID("n1")
        let calls: [(String, @Sendable () async throws(AccountError) -> Void)] = [
            ("tags", { () async throws(AccountError) in try await cloud.addTags(["a:b"], to: node) }),
            ("metadata", { () async throws(AccountError) in try await cloud.removeMetadata(of: node) }),
            (
                "RainKit does not support tags of nodes of RainMaker Neo yet",
                { () async throws(AccountError) in try await cloud.removeTags(["a:b"], from: node) }
            ),
            (
                "RainKit does not support automations of RainMaker Neo yet",
                { () async throws(AccountError) in try await cloud.removeAutomation("a") }
            ),
            (
                "RainKit does not support aggregates of time series of RainMaker Neo yet",
                { () async throws(AccountError) in
                    _ = try await cloud.seriesWindows(
                        SeriesRequest(
                            node: node, parameter: ParameterPath(component: "Room", parameter: "Heat"), kind: .simple,
                            dataType: "float", start: UnixTime(seconds: 0), end: UnixTime(seconds: 60)),
                        window: "daily",
                        from: "2030-01-01", to: "2030-01-02", page: nil)
                }
            ),
            (
                "RainMaker Neo does not have metadata of nodes",
                { () async throws(AccountError) in try await cloud.removeMetadata(of: node) }
            ),
            (
                "ask for the offers of groups",
                { () async throws(AccountError) in _ = try await cloud.sharingRequests(.nodes, sent: false) }
            ),
            (
                "share their group",
                { () async throws(AccountError) in
                    _ = try await cloud.share(
                        .nodes, ["n1"], with: "bob@example.com", as: .secondary, subRole: nil, metadata: nil)
                }
            ),
            ("automations", { () async throws(AccountError) in _ = try await cloud.automations(of: node) }),
            (
                "commands",
                { () async throws(AccountError) in
                    _ = try await cloud.commandRecords(of: node, in: nil, number: nil, atMost: 1)
                }
            ),
            ("firmware", { () async throws(AccountError) in _ = try await cloud.uploadImage([], name: "x") { _ in } }),
            ("single nodes", { () async throws(AccountError) in _ = try await cloud.sharing(.nodes, of: nil) }),
            ("sent", { () async throws(AccountError) in _ = try await cloud.sharingRequests(.groups, sent: true) }),
            (
                "ch_resp",
                { () async throws(AccountError) in
                    _ = try await cloud.addMapping(
                        node: node, secret: MappingSecret(randomBytes: [UInt8](repeating: 1, count: 16)),
                        notes: MappingNotes())
                }
            ),
        ]
        for (word, call) in calls {
            let error = await accountError { () async throws(AccountError) in try await call() }
            #expect(
                error?.code == .unsupported && error?.message.contains(word) == true,
                "\(word): \(String(describing: error))")
        }
    }
}

@Suite("Association with RainMaker Neo")
struct NeoAssociationTests {
    private static let owned =
        #"{"groups":[{"group_id":"s12345","group_name":"Home","access_type":"secondary"},{"group_id":"g12345","group_name":"Flat","access_type":"primary","node_ids":[]}]}"#

    @Test("a challenge is for a group that the user owns, and the request's id names both")
    func challenge() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups(Self.owned)
        neo.http.expect(
            .post, "/prod/v1/groups/g12345/node-assoc-requests", status: 201,
            #"{"request_id":"r1","challenge":"c0ffee"}"#)
        let challenge = try await neo.cloud.initiateChallenge(lifetime: .seconds(360))
        #expect(challenge.request.rawValue == "g12345/r1" && challenge.challenge == Array("c0ffee".utf8))
        neo.http.expect(.post, "/prod/v1/groups/g12345/node-assoc-requests/r1/verify", #"{"message":"success"}"#)
        try await neo.cloud.verifyChallenge(
            challenge.request, node: NodeID("n1"), signature: [0, 255], notes: MappingNotes())
        #expect(neo.http.requests.last?.json == ["challenge_response": "00ff", "node_id": "n1"])
        try neo.http.finish()
    }

    @Test("without a group, one is made")
    func firstGroup() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.groups()
        neo.http.expect(.post, "/prod/v1/groups", status: 201, #"{"group_id":"h12345"}"#)
        neo.http.expect(
            .post, "/prod/v1/groups/h12345/node-assoc-requests", status: 201, #"{"request_id":"r1","challenge":"c"}"#)
        _ = try await neo.cloud.initiateChallenge(lifetime: .seconds(1))
        #expect(neo.http.requests[2].json == ["group_name": "Home"])
        try neo.http.finish()
    }

    @Test(
        "a refused answer ends the request",
        arguments: [
            (401, "Invalid challenge response", "signature"), (401, "User ID mismatch", "another user"),
            (400, "Invalid request ID", "five minutes"),
            (500, "Failed to fetch certificate", "(node id n1): the board must be registered in this deployment first"),
            (500, "Failed to add node to group", "could not add the board"),
        ])
    func refusals(status: Int, message: String, word: String) async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.http.expect(
            .post, "/prod/v1/groups/g1/node-assoc-requests/r1/verify", status: status, #"{"message":"\#(message)"}"#)
        if status == 400 { neo.groups() }
        let error = await accountError { () throws(AccountError) in
            try await neo.cloud.verifyChallenge(
                RequestID("g1/r1"), node: NodeID("n1"), signature: [1], notes: MappingNotes())
        }
        #expect(error?.code == .mappingRefused && error?.message.contains(word) == true, "\(String(describing: error))")
        #expect(error?.isRefusal == true)
        #expect(status != 500 || error?.message.lowercased().contains("try again") == false)
    }

    @Test(
        "only an answer that shows nothing of the board may be repeated",
        arguments: [
            (500, #"{"message":"Internal server error"}"#), (503, #"{"message":"Service Unavailable"}"#),
            (504, #"{"message":"Endpoint request timed out"}"#), (500, ""), (502, "<html>"), (429, #"{"message":"x"}"#),
        ])
    func repeatable(status: Int, body: String) async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.http.expect(.post, "/prod/v1/groups/g1/node-assoc-requests/r1/verify", status: status, body)
        let error = await accountError { () throws(AccountError) in
            try await neo.cloud.verifyChallenge(
                RequestID("g1/r1"), node: NodeID("n1"), signature: [1], notes: MappingNotes())
        }
        #expect(error?.isTransient == true && error?.isRefusal == false, "\(String(describing: error))")
        #expect(neo.cloud.challengesTakeOneAnswer)
    }

    @Test("the answer to an earlier call was lost: the node is in the group")
    func repeated() async throws {
        let neo = try ScriptedNeo()
        neo.issues(1)
        neo.http.expect(
            .post, "/prod/v1/groups/g12345/node-assoc-requests/r1/verify", status: 400,
            #"{"message":"Invalid request ID"}"#)
        neo.groups(#"{"groups":[{"group_id":"g12345","group_name":"Home","access_type":"primary","node_ids":["n1"]}]}"#)
        try await neo.cloud.verifyChallenge(
            RequestID("g12345/r1"), node: NodeID("n1"), signature: [1], notes: MappingNotes())
        try neo.http.finish()
    }
}

@Suite("Documents of RainMaker Neo")
struct NeoDocumentTests {
    private static let outputs = """
        {"rmng-base":{"StackRegion":"eu-west-1","ApiGatewayUrl":"https://abc.execute-api.eu-west-1.amazonaws.com/prod/",
        "IoTEndpointUrl":"x-ats.iot.eu-west-1.amazonaws.com"},
        "espuser-base":{"EspUserApiUrl":"https://def.execute-api.eu-west-1.amazonaws.com/prod/"}}
        """

    @Test("the description of a deployment has all addresses")
    func description() throws {
        let outputs = try NeoOutputs(parsing: Array(Self.outputs.utf8))
        #expect(outputs.api == "https://abc.execute-api.eu-west-1.amazonaws.com/prod/")
        #expect(outputs.services.accounts.text == "https://def.execute-api.eu-west-1.amazonaws.com/prod")
        #expect(outputs.services.broker.text == "https://x-ats.iot.eu-west-1.amazonaws.com/mqtt")
        #expect(outputs.services.region == "eu-west-1" && outputs.clientID == "user-pool-client")
    }

    @Test(
        "a description that lacks an address, or has a wrong one, is refused",
        arguments: [
            ("StackRegion", "Region"), ("EspUserApiUrl", "Url"), ("eu-west-1\",\"Api", "eu/west\",\"Api"),
            ("https://abc", "http://abc"), ("x-ats.iot", "user@x-ats.iot"), ("{\"rmng", "[{\"rmng"),
        ])
    func wrong(part: String, replacement: String) {
        #expect(throws: AccountError.self) {
            _ = try NeoOutputs(parsing: Array(Self.outputs.replacing(part, with: replacement).utf8))
        }
    }

    @Test(
        "a broker is a host of AWS, or an address",
        arguments: [
            ("x.iot.us-east-1.amazonaws.com", "https://x.iot.us-east-1.amazonaws.com/mqtt"),
            ("wss://broker.example.com:8443", "https://broker.example.com:8443/mqtt"),
            ("ws://127.0.0.1:8080", "http://127.0.0.1:8080/mqtt"), ("https://a.example/ws", "https://a.example/ws"),
        ])
    func brokers(given: String, url: String) throws {
        #expect(try NeoServices(accounts: "https://a.example", region: "us-east-1", broker: given).broker.text == url)
    }

    @Test(
        "a region has the form of AWS's",
        arguments: [
            ("us-east-1", true), ("us-gov-west-1", true), ("ap-southeast-5", true), ("Frankfurt", false),
            ("eu-central", false), ("eu--1", false), ("eu-central-1/x", false), ("", false),
        ])
    func regions(region: String, isOne: Bool) {
        let services = try? NeoServices(accounts: "https://a.example", region: region, broker: "x.example")
        #expect((services != nil) == isOne)
    }

    @Test("names are ids, and series have RainMaker's word for records without aggregates")
    func configuration() throws {
        let shared = NeoConfiguration.shared([
            "info": ["name": "Lamp", "fw_version": "1"],
            "devices": [
                [
                    "id": "Light", "type": "esp.device.lightbulb", "primary": "Power",
                    "params": [
                        [
                            "id": "Power", "type": "esp.param.power", "data_type": "bool",
                            "properties": ["read", "write", "time_series"],
                        ],
                        ["name": "Mode", "data_type": "string", "valid_strings": ["a", "b"]],
                    ],
                ]
            ],
            "services": [
                ["id": "Sched", "type": "esp.service.schedule"], ["id": "Time", "type": "esp.service.time"],
            ],
        ])
        let configuration = try #require(NodeConfiguration(shared))
        #expect(configuration.component("Light")?.parameter("Power")?.series == .simple)
        #expect(configuration.component("Light")?.parameter("Mode")?.validTexts == ["a", "b"])
        #expect(configuration.components.map(\.name) == ["Light", "Time", "Schedule"])
        #expect(configuration.list(of: .schedules)?.path == NeoSchedules.path)
    }

    @Test("a shadow has values, the connection and its time; what is for the cloud is left out")
    func shadow() throws {
        let shadow = NeoShadow([
            "state": [
                "reported": [
                    "params": ["Light": ["Power": true], "notify": ["version": 1]], "online": true, "ncfg_ver": 7,
                ]
            ], "metadata": ["reported": ["online": ["timestamp": 100]]], "timestamp": 200,
        ])
        #expect(shadow.parameters == ["Light": ["Power": true]] && shadow.isOnline)
        #expect(shadow.configurationVersion == "7" && shadow.since == UnixTime(seconds: 100.999))
        #expect(shadow.connectivity.asOf == UnixTime(seconds: 200))
        let lost = NeoShadow([
            "state": ["reported": ["online": false, "disconnect_info": ["last_disconnect_ts": 50], "ncfg_ver": "ab"]]
        ])
        #expect(!lost.isOnline && lost.since == UnixTime(seconds: 50) && lost.configurationVersion == "ab")
    }

    @Test("a shadow with values or a connection of another type is not read as one without them")
    func wrongShadows() {
        func wrong(_ reported: JSONValue) -> String? { NeoShadow.wrongMember(of: ["state": ["reported": reported]]) }
        #expect(wrong(["params": []]) == "params" && wrong(["online": "true"]) == "online")
        #expect(wrong(["params": [:], "online": false]) == nil && wrong([:]) == nil && wrong(["params": nil]) == nil)
    }

    @Test("operations on schedules change one entry of the list, and keep the members of the others")
    func schedules() throws {
        let present: [JSONValue] = [
            ["id": "a", "name": "A", "enabled": true, "validity": ["start": 1]],
            ["id": "b", "name": "B", "enabled": true],
        ]
        let changed = try NeoSchedules.applying(
            [
                ["id": "a", "operation": "disable"], ["id": "b", "operation": "remove"],
                ["id": "c", "operation": "add", "name": "C", "triggers": [["m": 60, "d": 127]]],
            ], to: present)
        #expect(
            changed == [
                ["id": "a", "name": "A", "enabled": false, "validity": ["start": 1]],
                ["id": "c", "name": "C", "triggers": [["m": 60, "d": 127]], "enabled": true],
            ])
        for wrong: JSONValue in [
            [["id": "", "operation": "add"]], [["id": "x", "operation": "fly"]], "x",
            [["id": "12345678901234567", "operation": "add"]],
        ] {
            #expect(throws: AccountError.self) { _ = try NeoSchedules.applying(wrong, to: []) }
        }
    }

    @Test("the topics of live reports are few enough for the broker")
    func topics() {
        let places = (0..<120).map { number in
            NeoPlace(node: NodeID("n\(number)"), group: "g\(number % 60)", subgroups: [])
        }
        let topics = NeoBroker.reportTopics(of: places)
        #expect(topics.map(\.count) == [50, 10])
        #expect(topics[0][0] == "$aws/things/+/shadow/name/params-g0/update/documents")
        #expect(NeoBroker.nodesPerExchange == 25)
    }
}
