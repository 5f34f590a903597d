// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainKitTesting
import Testing

@testable import RainMaker

/// The calls for nodes in an account, as in Espressif's interface description 3.8.0: method, path, members.
@Suite("Sharing, groups, automations, commands, images: calls")
struct NodeCallsTests {
    private let light = NodeID("n1")

    @Test("tags and metadata")
    func notes() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes?node_id=n1", #"{"status":"success"}"#)
        try await script.cloud.addTags(["room:kitchen"], to: light)
        script.http.expect(.delete, "/v1/user/nodes?node_id=n1", #"{"status":"success"}"#)
        try await script.cloud.removeTags(["room:kitchen"], from: light)
        script.http.expect(.put, "/v1/user/nodes?node_id=n1", #"{"status":"success"}"#)
        try await script.cloud.changeMetadata(["x": .null], of: light)
        script.http.expect(.put, "/v1/user/nodes?node_id=n1", #"{"status":"success"}"#)
        try await script.cloud.removeMetadata(of: light)
        #expect(
            script.bodies == [
                ["tags": ["room:kitchen"]], ["tags": ["room:kitchen"]], ["metadata": ["x": .null]], ["metadata": .null],
            ])
        for tag in ["kitchen", ":kitchen", "room:", ""] {
            let error = await accountError { () throws(AccountError) in try await script.cloud.addTags([tag], to: light)
            }
            #expect(error?.code == .invalidTag, "\(tag)")
        }
        try script.http.finish()
    }

    @Test(
        "the roles of the other user, as sent",
        arguments: [
            (SharedRole.secondary, []), (.primary, ["primary"]), (.newOwner(formerOwnerStays: false), ["transfer"]),
            (.newOwner(formerOwnerStays: true), ["transfer", "new_role"]),
        ])
    func roles(role: SharedRole, more: [String]) async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/sharing", #"{"status":"success","request_id":"r1"}"#)
        let id = try await script.cloud.share(.nodes, ["n1", "n2"], with: "b@example.com", as: role)
        #expect(id == "r1")
        let body = try #require(script.bodies.first ?? nil)
        #expect(body["nodes"] == ["n1", "n2"] && body["user_name"] == "b@example.com")
        #expect(body.members?.dropFirst(2).map(\.name) == more)
    }

    @Test("a sub-role and metadata are sent, and a sub-role that does not exist is refused before")
    func subRoles() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/sharing", #"{"status":"success","request_id":"r1"}"#)
        try await script.cloud.share(
            .nodes, ["n1"], with: "b@example.com", subRole: 2, metadata: ["devices": [["name": "Lamp"]]])
        let body = try #require(script.bodies.first ?? nil)
        #expect(body["sub_role"] == 2 && body["metadata"] == ["devices": [["name": "Lamp"]]])
        for (role, subRole) in [(SharedRole.secondary, 0), (.secondary, 5), (.primary, 1)] {
            let error = await accountError { () throws(AccountError) in
                try await script.cloud.share(.nodes, ["n1"], with: "b@example.com", as: role, subRole: subRole)
            }
            #expect(error?.code == .invalidInput, "\(role) \(subRole)")
        }
        try script.http.finish()
    }

    @Test("commands are listed by node, state and number, and cancelled by request, node and number")
    func commandLists() async throws {
        let script = try ScriptedCloud()
        let cloud = script.cloud
        let path = "/v1/user/nodes/cmd"
        script.http.expect(.get, "\(path)?status=requested", #"{"requests":[{"node_id":"n1","status":"overridden"}]}"#)
        #expect(try await cloud.commandRecords(in: .requested, atMost: 9).map(\.status) == [.overridden])
        script.http.expect(.get, "\(path)?node_id=n1&status=timed_out&cmd_id=7", #"{"requests":[]}"#)
        #expect(try await cloud.commandRecords(of: light, in: .timedOut, number: 7, atMost: 9).isEmpty)
        // The description has an integer, the SDK for TypeScript a text.
        for (total, count) in [("3", 3), (#""2""#, 2), (#""x""#, nil), ("null", nil)] as [(String, Int?)] {
            script.http.expect(.delete, "\(path)?request_id=r1", #"{"status":"success","total_cancelled":\#(total)}"#)
            #expect(try await cloud.cancelCommands(RequestID("r1")) == count)
        }
        script.http.expect(.delete, "\(path)?request_id=r1&node_id=n1", #"{"status":"success"}"#)
        #expect(try await cloud.cancelCommands(RequestID("r1"), of: light) == nil)
        script.http.expect(.delete, "\(path)?node_id=n1&cmd_id=7", #"{"status":"success"}"#)
        try await cloud.cancelCommands(of: light, number: 7)
        for wrong in [
            { () async throws in _ = try await cloud.commandRecords(atMost: 1) },
            { () async throws in _ = try await cloud.commandRecords(in: .requested, number: 7, atMost: 1) },
            { () async throws in _ = try await cloud.cancelCommands() },
            { () async throws in _ = try await cloud.cancelCommands(RequestID("r1"), number: 7) },
        ] as [@Sendable () async throws -> Void] {
            await #expect(throws: AccountError.self) { try await wrong() }
        }
        script.http.expect(
            .post, path,
            #"{"request_id":"r2","responses":[{"node_ids":["n1"],"response":{"status":"success"}},{"node_ids":["n2","n3"],"response":{"status":"failure","error_code":105042,"description":"no"}}]}"#
        )
        let sent = try await cloud.sendCommand(7, .json([:]), to: [light, NodeID("n2"), NodeID("n3")], overrides: true)
        #expect(sent.refused.map(\.node) == [NodeID("n2"), NodeID("n3")] && sent.refused.first?.serverCode == 105042)
        #expect((script.bodies.last ?? nil)?["override"] == true)
        try script.http.finish()
    }

    @Test("nodes are listed by tags, and a cloud that does not know the filter changes nothing")
    func tagged() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .get, "/v1/user/nodes?node_details=true&tags=room%3Akitchen%20OR%20floor%3A0",
            #"{"node_details":[{"id":"n1","tags":["floor:0"]},{"id":"n2","tags":["room:hall"]},{"id":"n3"}]}"#)
        var ids: [String] = []
        try await script.cloud.eachNode(tagged: ["room:kitchen", "floor:0"]) { ids.append($0.id.rawValue) }
        #expect(ids == ["n1"])
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.eachNode(tagged: ["kitchen"]) { _ in }
        }
        #expect(error?.code == .invalidTag)
        try script.http.finish()
    }

    @Test("sharing of nodes and of groups has its own calls, and requests are listed in pages")
    func sharing() async throws {
        for (kind, root, id) in [(SharedKind.nodes, "nodes", "node_id"), (.groups, "node_group", "group_id")] {
            let script = try ScriptedCloud()
            let base = "/v1/user/\(root)/sharing"
            script.http.expect(
                .get, "\(base)?\(id)=x",
                "{\"\(kind.listMember)\":[{\"\(id)\":\"x\",\"users\":{\"primary\":[\"a\"]}}]}")
            #expect(try await script.cloud.sharing(kind, of: "x").map(\.primaryUsers) == [["a"]])
            script.http.expect(
                .delete, "\(base)?\(kind.rawValue)=x%2Cy&user_name=b%40example.com", #"{"status":"success"}"#)
            try await script.cloud.stopSharing(kind, ["x", "y"], with: "b@example.com")
            script.http.expect(
                .get, "\(base)/requests?primary_user=true",
                #"{"sharing_requests":[{"request_id":"r1"}],"next_request_id":"r2","next_user_name":"b"}"#)
            script.http.expect(
                .get, "\(base)/requests?primary_user=true&start_request_id=r2&start_user_name=b",
                #"{"sharing_requests":[{"request_id":"r2","request_status":"declined"}]}"#)
            #expect(try await script.cloud.sharingRequests(kind, sent: true).map(\.status) == ["pending", "declined"])
            script.http.expect(.put, "\(base)/requests", #"{"status":"success"}"#)
            try await script.cloud.answerSharing(kind, request: "r1", accepting: false)
            #expect(script.bodies.last == ["accept": false, "request_id": "r1"])
            script.http.expect(.delete, "\(base)/requests?request_id=r1", #"{"status":"success"}"#)
            try await script.cloud.cancelSharing(kind, request: "r1")
            try script.http.finish()
        }
    }

    @Test("users of groups inside groups are listed as well, up to a depth")
    func sharingWithin() async throws {
        let script = try ScriptedCloud()
        var nested = #"{"group_id":"last"}"#
        for level in (0..<12).reversed() { nested = "{\"group_id\":\"g\(level)\",\"sub_groups\":[\(nested)]}" }
        script.http.expect(.get, "/v1/user/node_group/sharing?sub_groups=true", "{\"group_sharing\":[\(nested)]}")
        let all = try await script.cloud.sharing(.groups)
        #expect(all.map(\.id) == (0..<NodeGroup.maximumDepth).map { "g\($0)" })
        try script.http.finish()
    }

    @Test("groups are read with their sub-groups, up to a depth, and only given values are changed")
    func groups() async throws {
        let script = try ScriptedCloud()
        var nested = #"{"group_id":"last"}"#
        for level in 0..<12 { nested = "{\"group_id\":\"g\(level)\",\"sub_groups\":[\(nested)]}" }
        script.http.expect(.get, "/v1/user/node_group?sub_groups=true", "{\"groups\":[\(nested)]}")
        var (group, depth) = (try await script.cloud.groups(withSubgroups: true).first, 0)
        while let next = group { (group, depth) = (next.subgroups?.first, depth + 1) }
        #expect(depth == NodeGroup.maximumDepth)
        script.http.expect(.post, "/v1/user/node_group", #"{"group_id":"g1","status":"success"}"#)
        _ = try await script.cloud.createGroup(NodeGroupChange(name: "Home", summary: "Ours"), nodes: [light])
        #expect(script.bodies.last == ["group_name": "Home", "description": "Ours", "nodes": ["n1"]])
        script.http.expect(.put, "/v1/user/node_group?group_id=g1", #"{"status":"success"}"#)
        try await script.cloud.addNodes([light], toGroup: "g1")
        #expect(script.bodies.last == ["operation": "add", "nodes": ["n1"]])
        script.http.expect(.delete, "/v1/user/node_group?group_id=g1", #"{"status":"success"}"#)
        try await script.cloud.removeGroup("g1")
        try script.http.finish()
    }

    @Test("automations: an empty list, pages, and members that may be missing")
    func automations() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/node_automation?node_id=n1", "{}")
        #expect(try await script.cloud.automations(of: light).isEmpty)
        script.http.expect(
            .get, "/v1/user/node_automation",
            #"{"automation_trigger_actions":[{"automation_id":"a"},{"x":1}],"next_id":"b"}"#)
        script.http.expect(
            .get, "/v1/user/node_automation?start_id=b",
            #"{"automation_trigger_actions":[{"automation_id":"b","enabled":false,"new":7}]}"#)
        let all = try await script.cloud.automations()
        #expect(all.map(\.isEnabled) == [true, false] && all[1].document["new"] == 7)
        script.http.expect(.post, "/v1/user/node_automation", #"{"status":"success"}"#)
        let error = await accountError { () throws(AccountError) in try await script.cloud.createAutomation([:]) }
        #expect(error?.code == .malformedAnswer, "an answer without the id")
        try script.http.finish()
    }

    @Test("a command's data, and the nodes to which the cloud did not send it")
    func commands() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .post, "/v1/user/nodes/cmd",
            status: 207,
            #"{"request_id":"r","responses":[{"node_id":"n1","status":"success"},{"node_id":"n2","status":"failure","description":"no","error_code":"100010"}]}"#
        )
        let sent = try await script.cloud.sendCommand(7, .bytes([0xFF]), to: [light, NodeID("n2")], lifetime: nil)
        let meaning = RainMakerErrorCode.meaning(of: 100_010, status: 207)?.sentence
        #expect(
            meaning != nil
                && sent.refused == [ParameterOutcome(node: NodeID("n2"), failure: meaning, serverCode: 100_010)])
        #expect(
            script.bodies.last == [
                "node_ids": ["n1", "n2"], "cmd": 7, "timeout": -1, "is_base64": true, "data": "/w==",
            ])
        script.http.expect(
            .get, "/v1/user/nodes/cmd?request_id=r",
            #"{"requests":[{"node_id":"n1","status":"weird"},{"status":"success"}]}"#)
        let records = try await script.cloud.commandRecords(RequestID("r"))
        #expect(records.map(\.status) == [.other("weird")] && records[0].status.isFinal)
        try script.http.finish()
    }

    @Test(
        "for a board that is refused with an undocumented number, the cloud's message and the number are shown",
        arguments: [103_014, 105_042, 131_001, 131_115])
    func refusedByNumber(number: Int) async throws {
        let script = try ScriptedCloud()
        let refusal = { (words: String) in
            #"{"node_id":"n1","status":"failure","error_code":\#(number)\#(words)}"#
        }
        for (words, told) in [(#","description":"not\nnow""#, "not now"), ("", "refused")] {
            let answer = "{\"request_id\":\"r\",\"responses\":[\(refusal(words))]}"
            script.http.expect(.post, "/v1/user/nodes/cmd", status: 207, answer)
            let sent = try await script.cloud.sendCommand(7, .bytes([0xFF]), to: [light], lifetime: nil)
            let failure = "\(told) (error code \(number))"
            #expect(sent.refused == [ParameterOutcome(node: light, failure: failure, serverCode: number)])
        }
        try script.http.finish()
    }

    @Test("an image that is too large is not sent")
    func images() async throws {
        let script = try ScriptedCloud()
        let large = [UInt8](repeating: 0, count: RainMakerCloud.maximumImage + 1)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.uploadImage(large, name: "a.bin")
        }
        #expect(error?.code == .invalidInput)
        script.http.expect(.post, "/v1/user/otaimage", #"{"status":"success","image_url":"https://x/y"}"#)
        #expect(try await script.cloud.uploadImage([1, 2, 3], name: "a.bin") == "https://x/y")
        #expect(script.bodies.last == ["image_name": "a.bin", "base64_fwimage": "AQID"])
        try script.http.finish()
    }

    @Test(
        "reading a list that does not end stops", arguments: ["sharing", "groups", "automations", "commands"])
    func endless(list: String) async throws {
        let script = try ScriptedCloud()
        let (path, page): (String, String) =
            switch list {
            case "sharing":
                (
                    "/v1/user/nodes/sharing/requests?primary_user=false",
                    #"{"sharing_requests":[],"next_request_id":"a"}"#
                )
            case "groups": ("/v1/user/node_group", #"{"groups":[],"next_id":"a"}"#)
            case "automations": ("/v1/user/node_automation", #"{"automation_trigger_actions":[],"next_id":"a"}"#)
            default: ("/v1/user/nodes/cmd?request_id=r", #"{"requests":[],"next_id":"a"}"#)
            }
        let name = list == "sharing" ? "start_request_id" : "start_id"
        script.http.expect(.get, path, page)
        script.http.expect(.get, path + (path.contains("?") ? "&" : "?") + "\(name)=a", page)
        let error = await accountError { () throws(AccountError) in
            switch list {
            case "sharing": _ = try await script.cloud.sharingRequests(.nodes, sent: false)
            case "groups": _ = try await script.cloud.groups()
            case "automations": _ = try await script.cloud.automations()
            default: _ = try await script.cloud.commandRecords(RequestID("r"))
            }
        }
        #expect(error?.code == .malformedAnswer)
        #expect(error?.message.contains("was not read to its end") == true)
    }

    @Test(
        "documented refusals have their meanings",
        arguments: [
            (101_025, 404, AccountError.Code.unknownUser), (107_085, 400, .forbidden), (100_010, 400, .unknownNode),
            (100_015, 404, .unknownNode), (105_046, 400, .invalidTag), (100_070, 429, .rateLimited),
            (100_012, 400, .rejected), (100_006, 400, .rejected), (103_055, 400, .unknownNode),
        ])
    func refusals(number: Int, status: Int, code: AccountError.Code) async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .put, "/v1/user/nodes/sharing", status: status,
            "{\"status\":\"failure\",\"error_code\":\(number),\"description\":\"x\"}")
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.share(.nodes, ["n1"], with: "b@example.com")
        }
        #expect(error?.code == code && error?.serverCode == number)
    }

    @Test(
        "a missing member and one of the wrong type have different messages",
        arguments: [
            ("{}", "request_id is missing"), (#"{"request_id":null}"#, "request_id is missing"),
            (#"{"request_id":5}"#, "request_id is a number"), (#"{"request_id":[]}"#, "request_id is a list"),
            (#"{"request_id":""}"#, "request_id is empty"),
        ])
    func wrongTypes(body: String, says: String) async throws {
        let script = try ScriptedCloud()
        script.http.expect(.put, "/v1/user/nodes/sharing", body)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.share(.nodes, ["n1"], with: "b@example.com")
        }
        #expect(error?.code == .malformedAnswer && error?.message.contains(says) == true, "\(error as Any)")
    }

    @Test("an offer to oneself is reported as such, in any spelling of the name")
    func oneself() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .put, "/v1/user/nodes/sharing", status: 400,
            #"{"status":"failure","error_code":100012,"description":"x"}"#)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.share(.nodes, ["n1"], with: "Dev@example.com")
        }
        #expect(error?.code == .rejected && error?.message.contains("is the signed-in user") == true, "\(error as Any)")
    }

    @Test(
        "messages for groups and sharing are not those for mapping, sign-in and nodes",
        arguments: [
            (101_025, "offer", "there is no user b@example.com", AccountError.Code.unknownUser),
            (101_025, "end", "there is no user b@example.com", .unknownUser),
            (100_012, "offer", "sharing request is not valid", .rejected),
            (103_055, "offer", "group", .rejected),
            (103_055, "end", "the group g is not shared with b@example.com", .rejected),
            (100_012, "answer", "sharing request", .rejected), (100_012, "cancel", "sharing request", .rejected),
            (103_016, "cancel", "sharing request", .rejected), (103_018, "answer", "sharing request", .rejected),
            (100_012, "group", "for the group", .rejected), (103_055, "remove", "group", .rejected),
        ])
    func words(number: Int, call: String, words: String, code: AccountError.Code) async throws {
        let script = try ScriptedCloud()
        let sharing = "/v1/user/node_group/sharing"
        let (method, path): (HTTPRequest.Method, String) =
            switch call {
            case "offer": (.put, sharing)
            case "end": (.delete, sharing + "?groups=g&user_name=b%40example.com")
            case "answer": (.put, sharing + "/requests")
            case "cancel": (.delete, sharing + "/requests?request_id=r")
            case "group": (.put, "/v1/user/node_group?group_id=g")
            default: (.delete, "/v1/user/node_group?group_id=g")
            }
        script.http.expect(
            method, path, status: 400, "{\"status\":\"failure\",\"error_code\":\(number),\"description\":\"x\"}")
        let cloud = script.cloud
        let error = await accountError { () throws(AccountError) in
            switch call {
            case "offer": try await cloud.share(.groups, ["g"], with: "b@example.com")
            case "end": try await cloud.stopSharing(.groups, ["g"], with: "b@example.com")
            case "answer": try await cloud.answerSharing(.groups, request: "r", accepting: true)
            case "cancel": try await cloud.cancelSharing(.groups, request: "r")
            case "group": try await cloud.changeGroup("g", NodeGroupChange(name: "Home"))
            default: try await cloud.removeGroup("g")
            }
        }
        #expect(error?.code == code && error?.serverCode == number)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("ten thousand nodes are passed on in one pass, and none is kept")
    func tenThousand() async throws {
        let script = try ScriptedCloud()
        let pages = 400
        for page in 0..<pages {
            let details = (0..<25).map { "{\"id\":\"n\(page * 25 + $0)\",\"params\":{\"Light\":{\"Power\":true}}}" }
            let next = page + 1 < pages ? ",\"next_id\":\"p\(page + 1)\"" : ""
            script.http.expect(
                .get, "/v1/user/nodes?node_details=true" + (page == 0 ? "" : "&start_id=p\(page)"),
                "{\"node_details\":[\(details.joined(separator: ","))]\(next)}")
        }
        var (count, last) = (0, "")
        try await script.cloud.eachNode { (count, last) = (count + 1, $0.id.rawValue) }
        #expect(count == 10_000 && last == "n9999")
        try script.http.finish()
    }
}

@Suite("Firmware images")
struct FirmwareImageTests {
    private static func image() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 304)
        // One segment, of 256 bytes, and the checksum at the end of the next 16.
        (bytes[0], bytes[1], bytes[29], bytes[12], bytes[23]) = (0xE9, 1, 1, 5, 1)
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<53, with: Array("1.2.3".utf8))
        bytes.replaceSubrange(80..<84, with: Array("lamp".utf8))
        bytes.replaceSubrange(144..<148, with: Array("v5.5".utf8))
        bytes[303] = bytes[32..<288].reduce(0xEF) { $0 ^ $1 }
        return bytes.withUnsafeBufferPointer { message in
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                OpenSSLHashes.sha256(message, into: UnsafeMutableBufferPointer(rebasing: digest[..<32]))
                count = 32
            }
        }.reduce(into: bytes) { $0.append($1) }
    }

    @Test("chip, project, version and ESP-IDF are in the header")
    func head() throws {
        let image = try FirmwareImage(Self.image())
        #expect(image.chip == "esp32c3" && image.project == "lamp" && image.version == "1.2.3")
        #expect(image.idfVersion == "v5.5" && image.size == 336)
        var other = Self.image()
        other[13] = 0x7F
        #expect(try FirmwareImage(other).chip == nil)
    }

    @Test("any changed byte is detected by the checksum or the hash; without a hash by the checksum")
    func damaged() {
        let whole = Self.image()
        #expect(throws: Never.self) { try FirmwareImage(whole, hashes: OpenSSLHashes.self) }
        // The second byte counts the segments, and the last of the first 24 whether there is a hash.
        for position in whole.indices where ![0, 1, 23].contains(position) && !(28..<36).contains(position) {
            var other = whole
            other[position] ^= 0x10
            let isInSegment = (36..<288).contains(position) || position == 303
            #expect(throws: isInSegment ? FirmwareImage.Failure.wrongChecksum : .wrongHash, "\(position)") {
                try FirmwareImage(other, hashes: OpenSSLHashes.self)
            }
        }
        var short = whole
        short[23] = 0
        #expect(throws: Never.self) { try FirmwareImage(Array(short.prefix(304)), hashes: OpenSSLHashes.self) }
        short[100] = 1
        #expect(throws: FirmwareImage.Failure.wrongChecksum) { try FirmwareImage(Array(short.prefix(304))) }
    }

    @Test(
        "a challenge and short-lived rights change nothing of the user's",
        arguments: [
            (RainMakerCall.initiateMapping, false), (RainMakerCall.assumeRole, false),
            ("user/nodes/mapping/verify", true),
        ])
    func changes(path: String, isChange: Bool) {
        #expect(RainMakerCall(.post, path, body: [:]).request(below: "https://example.com/v1/").isChange == isChange)
    }

    @Test("every truncation is reported as one, and other bytes as not an image")
    func refused() {
        let whole = Self.image()
        for length in 0..<whole.count {
            #expect(throws: length == 0 ? FirmwareImage.Failure.notAnImage : .truncated) {
                try FirmwareImage(Array(whole.prefix(length)))
            }
        }
        // A second segment that is missing or incomplete.
        for tail in [
            [], [0, 0, 0, 0, 4, 0, 0], [0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3], [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]] {
            var two = Array(whole.prefix(288))
            two[1] = 2
            #expect(throws: FirmwareImage.Failure.truncated) { try FirmwareImage(two + tail) }
        }
        var loader = whole
        loader[32] = 0
        #expect(throws: FirmwareImage.Failure.notAnApplication) { try FirmwareImage(loader) }
    }
}
