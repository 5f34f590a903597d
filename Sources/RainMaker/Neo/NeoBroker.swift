// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainIO
import RainJSON
import Synchronization

/// A node, and the shadow with its values. A shadow is AWS IoT's copy of the values that a node has reported.
struct NeoPlace: Sendable, Hashable {
    var node: NodeID
    var group: String
    /// The sub-groups that the node is in.
    var subgroups: [String]

    /// The name has the node's groups, so that a right for a group is a right for its shadows.
    var shadow: String { (["params-\(group)"] + subgroups.sorted()).joined(separator: "-") }

    fileprivate var topic: String { "$aws/things/\(node.rawValue)/shadow/name/\(shadow)" }
    /// The topic on which a user sets values.
    fileprivate var setTopic: String { "rainmaker/nodes/\(node.rawValue)/user/\(shadow)/params" }
}

/// The content of a node's shadow.
struct NeoShadow: Sendable, Equatable {
    /// The values: `{"Light":{"Power":true}}`.
    var parameters: JSONValue?
    /// Whether the node is connected. The cloud notices a loss of power after about 100 s.
    var isOnline: Bool
    /// When ``isOnline`` was last reported, by the cloud's clock; nil if the document does not say.
    var since: UnixTime?
    /// The version of the node's configuration. When it changes, the configuration is fetched again.
    var configurationVersion: String?
    /// The cloud's time of the answer.
    var asOf: UnixTime?

    /// The limit of AWS IoT for a message.
    static let limits = JSONLimits(maximumBytes: 128 << 10, maximumDepth: 16, maximumValues: 20_000)

    /// Returns the name of a member whose type is not the documented one; nil if all are well.
    static func wrongMember(of json: JSONValue) -> String? {
        let reported = json["state"]?["reported"]?.unlessNull
        if let params = reported?["params"]?.unlessNull, params.members == nil { return "params" }
        if let online = reported?["online"]?.unlessNull, online.bool == nil { return "online" }
        return nil
    }

    /// Reads a document `{"state":{"reported":{…}},…}`.
    init(_ json: JSONValue) {
        let reported = json["state"]?["reported"]
        // `notify` is for the cloud, and not a device.
        let members = reported?["params"]?.members?.filter { $0.name != "notify" }
        parameters = members.map { .object($0) }
        isOnline = reported?["online"]?.bool ?? false
        // An integer in older firmware, and a text in newer.
        configurationVersion = reported?["ncfg_ver"].flatMap { $0.string ?? $0.integer.map { "\($0)" } }
        func time(_ value: JSONValue?) -> UnixTime? { value?.double.map { UnixTime(seconds: $0) } }
        asOf = time(json["timestamp"])
        let lost = isOnline ? nil : time(reported?["disconnect_info"]?["last_disconnect_ts"])
        // Whole seconds, rounded down: the event was within that second.
        since = lost ?? time(json["metadata"]?["reported"]?["online"]?["timestamp"]).map { $0 + 0.999 }
    }

    /// The node's connection.
    var connectivity: Node.Connectivity { Node.Connectivity(isConnected: isOnline, since: since, asOf: asOf) }
}

/// The MQTT broker of a RainMaker Neo deployment, as users reach it: over WebSocket, with signed addresses.
///
/// Each exchange has its own connection. The limits are those of AWS IoT: 50 subscriptions for a connection, 8 for a request, and messages
/// of 128 KiB.
struct NeoBroker: Sendable {
    private let address: ServiceURL
    private let region: String
    private let tools: LiveTools
    private let clock: NeoClock
    private let roles: NeoCredentials
    private let userName: @Sendable () async throws(AccountError) -> String

    /// How long an exchange may take.
    private static let limit = Duration.seconds(10)
    /// How long a signature can open a connection, in seconds: as Neo's own client requests it.
    private static let validity = 86_400
    /// Each node needs two subscriptions for its values.
    static let nodesPerExchange = MQTTSubscription.topicsPerConnection / 2

    init(
        _ services: NeoServices, tools: LiveTools, clock: NeoClock, roles: NeoCredentials,
        userName: @escaping @Sendable () async throws(AccountError) -> String
    ) {
        (address, region, self.tools, self.clock) = (services.broker, services.region, tools, clock)
        (self.roles, self.userName) = (roles, userName)
    }

    /// The broker's host, and its port if it is not the usual one.
    var authority: String { address.authority }

    /// Returns the shadows of nodes. A node that has not reported yet has none.
    func shadows(of places: [NeoPlace]) async throws(AccountError) -> [NodeID: NeoShadow] {
        var shadows: [NodeID: NeoShadow] = [:]
        for start in stride(from: 0, to: places.count, by: Self.nodesPerExchange) {
            let part = Array(places[start..<min(start + Self.nodesPerExchange, places.count)])
            shadows.merge(try await exchangedShadows(of: part)) { $1 }
        }
        return shadows
    }

    private func exchangedShadows(of places: [NeoPlace]) async throws(AccountError) -> [NodeID: NeoShadow] {
        let answers = Mutex(ShadowAnswers(places))
        try await exchange(
            topics: places.flatMap { ["\($0.topic)/get/accepted", "\($0.topic)/get/rejected"] },
            messages: places.map { MQTTMessage(topic: "\($0.topic)/get", payload: Array("{}".utf8)) }
        ) { event in
            guard case .message(let message) = event else { return false }
            return answers.withLock { $0.take(message) }
        }
        return try answers.withLock { $0.result }.get()
    }

    /// Publishes messages, and returns when the broker has taken them.
    func publish(_ messages: [(place: NeoPlace, values: JSONValue)]) async throws(AccountError) {
        let messages = messages.map { MQTTMessage(topic: $0.place.setTopic, payload: $0.values.serialized()) }
        for message in messages where message.payload.count > NeoShadow.limits.maximumBytes {
            throw AccountError(
                .invalidInput,
                message: "the values have \(message.payload.count) bytes, but the broker accepts at most 131072 at once"
            )
        }
        for start in stride(from: 0, to: messages.count, by: MQTTSubscription.topicsPerConnection) {
            let part = Array(messages[start..<min(start + MQTTSubscription.topicsPerConnection, messages.count)])
            try await exchange(topics: [], messages: part) { $0 == .published }
        }
    }

    /// Returns the description of a connection. Its address is signed now.
    func connection(
        topics: [String], messages: [MQTTMessage] = [], as role: AssumedRole
    ) async throws(AccountError) -> MQTTSubscription.Request {
        let host = AWSURL(address.text).host
        let schemeAndHost =
            address.text.hasPrefix("https") ? "https://\(address.authority)" : "http://\(address.authority)"
        let path = String(address.text.dropFirst(schemeAndHost.count))
        let target = AWSSigner(role, region: region, service: AWSSigner.broker, hashes: tools.hashes)
            .target(host: host, path: path, at: clock.now, goodFor: Self.validity)
        // The rights are for this form. The last part tells the connections of a user apart.
        let session = Hex.text(tools.randomBytes(8))
        var request = MQTTSubscription.Request(
            url: schemeAndHost, host: host, target: target, clientID: "user:\(try await userName()):\(session)",
            topics: topics)
        request.messages = messages
        return request
    }

    /// Returns the connections that hear the reports of nodes, each with its topics.
    static func reportTopics(of places: [NeoPlace]) -> [[String]] {
        // A plus sign stands for any node. The rights are by the shadow's name.
        let topics = Set(places.map(\.shadow)).sorted().map { "$aws/things/+/shadow/name/\($0)/update/documents" }
        return stride(from: 0, to: topics.count, by: MQTTSubscription.topicsPerConnection).map {
            Array(topics[$0..<min($0 + MQTTSubscription.topicsPerConnection, topics.count)])
        }
    }

    /// Reads a message of ``reportTopics(of:)``. Returns nil for a message that is not a report of one of these nodes.
    static func report(_ message: MQTTMessage, of places: [NeoPlace]) -> NodeReport? {
        guard let place = places.first(where: { "\($0.topic)/update/documents" == message.topic }),
            let json = try? JSONValue(parsing: message.payload, limits: NeoShadow.limits),
            let current = json["current"], let values = NeoShadow(current).parameters
        else { return nil }
        return NodeReport(node: place.node, values: values)
    }

    /// New credentials, whose rights are for the present groups.
    func newRole() async throws(AccountError) -> AssumedRole { try await roles.renewed() }

    /// The credentials for connections.
    func role(replacing rejected: AssumedRole? = nil) async throws(AccountError) -> AssumedRole {
        try await roles.role(replacing: rejected)
    }

    /// - Parameter isDone: called with each event. The exchange ends when it returns true.
    private func exchange(
        topics: [String], messages: [MQTTMessage], isDone: @escaping @Sendable (MQTTSubscription.Event) -> Bool
    ) async throws(AccountError) {
        let role = try await role()
        let request = try await connection(topics: topics, messages: messages, as: role)
        let failure: MQTTError
        do throws(MQTTError) { return try await run(request, isDone) } catch { failure = error }
        guard failure.code == .refused || failure.code == .notAllowed else {
            throw AccountError(failure, broker: authority)
        }
        // The credentials may have ended early, or be older than a group.
        let other = try await self.role(replacing: role)
        let again = try await connection(topics: topics, messages: messages, as: other)
        do throws(MQTTError) { try await run(again, isDone) } catch {
            guard error.code == .notAllowed else { throw AccountError(error, broker: authority) }
            throw AccountError(
                .forbidden,
                message:
                    "the broker at \(authority) does not give this user access to the node's values: \(error.message)")
        }
    }

    private enum Ending { case done, late, cancelled, failed(MQTTError) }

    private func run(
        _ request: MQTTSubscription.Request, _ isDone: @escaping @Sendable (MQTTSubscription.Event) -> Bool
    ) async throws(MQTTError) {
        let subscription = MQTTSubscription(request, tools: tools.subscription)
        let (enough, signal) = AsyncStream<Void>.makeStream()
        let sleep = tools.sleep
        let ending = await withTaskGroup(of: Ending.self) { group in
            group.addTask {
                do throws(MQTTError) {
                    try await subscription.run { event in if isDone(event) { signal.finish() } }
                } catch {
                    return .failed(error)
                }
            }
            group.addTask {
                for await _ in enough {}
                return Task.isCancelled ? .cancelled : .done
            }
            group.addTask {
                do { try await sleep(Self.limit) } catch { return .cancelled }
                return .late
            }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            return first
        }
        switch ending {
        case .done: return
        case .late: throw MQTTError(.timedOut, "no answer arrived in time")
        case .cancelled: throw MQTTError(.cancelled, "cancelled")
        case .failed(let error): throw error
        }
    }
}

/// The answers to questions for shadows.
private struct ShadowAnswers {
    private var open: [NeoPlace]
    private var shadows: [NodeID: NeoShadow] = [:]
    private var failure: AccountError?

    init(_ places: [NeoPlace]) { open = places }

    var result: Result<[NodeID: NeoShadow], AccountError> { failure.map { .failure($0) } ?? .success(shadows) }

    /// Returns whether there is nothing left to wait for.
    mutating func take(_ message: MQTTMessage) -> Bool {
        for (index, place) in open.enumerated() {
            let isAccepted = message.topic == "\(place.topic)/get/accepted"
            guard isAccepted || message.topic == "\(place.topic)/get/rejected" else { continue }
            guard let json = try? JSONValue(parsing: message.payload, limits: NeoShadow.limits) else {
                failure = AccountError(
                    .malformedAnswer,
                    message: "the broker's answer about \(presentable(place.node.rawValue)) is not JSON")
                return true
            }
            // 404: the node has not reported yet.
            if isAccepted {
                if let member = NeoShadow.wrongMember(of: json) {
                    failure = AccountError(
                        .malformedAnswer,
                        message:
                            "the broker's answer about \(presentable(place.node.rawValue)) has a value of the wrong type in \(member)"
                    )
                    return true
                }
                shadows[place.node] = NeoShadow(json)
            } else if json["code"]?.integer != 404 {
                let words = json["message"]?.string.map { ": \(presentable($0))" } ?? ""
                failure = AccountError(
                    .rejected, message: "the broker refuses the values of \(presentable(place.node.rawValue))\(words)")
                return true
            }
            open.remove(at: index)
            break
        }
        return open.isEmpty
    }
}
