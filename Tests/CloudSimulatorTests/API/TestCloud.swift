// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport

@testable import CloudSimulator

/// The API as a function, without a socket, on a clock that the test sets.
final class TestCloud: Sendable {
    static let user = "dev@example.com"
    static let password = "Passw0rd"

    let api: CloudAPI
    let folder: TemporaryFolder

    var journal: TestSupport.Journal { TestSupport.Journal(path: folder.file("journal")) }

    private final class Clock: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
    }
    private let clock: Clock

    private let data: DataFolder

    /// - Parameter isForgetful: keeps nothing on disk, as the simulator does without `--data`.
    init(
        folder given: TemporaryFolder? = nil, isForgetful: Bool = false, nodes: [String] = [],
        configure: (inout CloudAPI.Options) -> Void = { _ in }
    ) throws {
        let folder = try given ?? TemporaryFolder()
        let clock = Clock()
        var options = CloudAPI.Options()
        options.clock = { clock.milliseconds.withLock { $0 } }
        configure(&options)
        let journal = try CloudSimulator.Journal(path: folder.file("journal"), clock: options.clock)
        data = try DataFolder(path: isForgetful ? nil : folder.file("data"))
        api = try CloudAPI(
            folder: data, journal: journal,
            mailbox: try Mailbox(path: folder.file("mailbox")), options: options)
        self.folder = folder
        self.clock = clock
        try api.addUser(name: Self.user, password: Self.password)
        for node in nodes { try api.addNode(NodeSpecification(node)!) }
    }

    deinit { data.removeIfTemporary() }

    func pass(_ duration: Duration) { clock.milliseconds.withLock { $0 += duration.milliseconds } }

    func send(
        _ method: String, _ target: String, _ body: JSONValue? = nil, token: String? = nil
    ) -> Response {
        send(method, target, text: body.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "", token: token)
    }

    func send(_ method: String, _ target: String, text: String, token: String? = nil) -> Response {
        let headers = token.map { [Request.Field("Authorization", $0)] } ?? []
        return api.respond(to: Request(method: method, target: target, headers: headers, body: Array(text.utf8)))
    }

    func control(_ what: String, _ body: JSONValue) -> Response { send("POST", "/_sim/\(what)", body) }

    /// The status that setting the faults had.
    func faults(_ rules: [JSONValue]) -> Int { control("faults", ["rules": .array(rules)]).status }

    /// The newest code that was sent for that.
    func code(_ kind: Mailbox.Kind, to receiver: String = user) throws -> String {
        let mails = try TestSupport.Journal(path: folder.file("mailbox")).entries(where: [
            "kind": .string(kind.rawValue), "to": .string(receiver),
        ])
        guard let code = mails.last?["code"]?.string else { throw SimulatorError(.usage, "no mail") }
        return code
    }

    /// A code that is not that one.
    static func wrong(_ code: String) -> JSONValue { .string(code == "000000" ? "000001" : "000000") }

    /// Signs a user up, without bringing the code back.
    func signUp(_ name: String, _ password: String = password) -> Response {
        send("POST", "/v1/user2", ["user_name": .string(name), "password": .string(password)])
    }

    struct SignedIn {
        var access: String
        var id: String
        var refresh: String
    }

    func signIn(_ name: String = user, _ password: String = password) throws -> SignedIn {
        let reply = send("POST", "/v1/login2", ["user_name": .string(name), "password": .string(password)]).body
        guard let access = reply["accesstoken"]?.string, let id = reply["idtoken"]?.string,
            let refresh = reply["refreshtoken"]?.string
        else { throw SimulatorError(.usage, "not signed in: \(reply)") }
        return SignedIn(access: access, id: id, refresh: refresh)
    }

    /// Maps a node by both halves.
    func map(_ node: String, token: String, isReset: Bool = false) throws {
        let userID = send("GET", "/v1/user2", token: token).body["user_id"]?.string ?? ""
        report(node, user: userID, secret: "s-\(node)", isReset: isReset)
        let reply = send(
            "PUT", "/v1/user/nodes/mapping",
            ["node_id": .string(node), "secret_key": .string("s-\(node)"), "operation": "add"], token: token)
        guard reply.status == 200 else { throw SimulatorError(.usage, "not mapped: \(reply)") }
    }

    /// What the node publishes after it received its user.
    func report(_ node: String, user: String, secret: String, isReset: Bool = false) {
        let message: JSONValue = [
            "node_id": .string(node), "user_id": .string(user), "secret_key": .string(secret), "reset": .bool(isReset),
        ]
        api.receive(topic: "$aws/rules/esp_user_node_mapping/node/\(node)/user/mapping", payload: message.serialized())
    }
}

extension Response {
    var errorCode: Int64? { body["error_code"]?.integer }
}
