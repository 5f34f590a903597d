// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainMosquitto
import DeviceCore
import Glibc
import RainCryptoOpenSSL
import RainJSON

/// The node's connection to RainMaker's MQTT broker. It is opened once the station has an address, and kept until the process ends.
///
/// An unclaimed board gets its identity by the claim. It stays offline if it is on Wi-Fi before the claim.
///
/// Messages are published one after the other. Each is repeated until its PUBACK comes, also over a new connection.
final class CloudLink: EventSource {
    private enum State {
        /// Not on Wi-Fi yet.
        case offline
        case waiting(until: UInt64)
        /// libmosquitto looks up the host and connects on its own thread, while the board keeps running.
        case connecting
        /// Connected but not accepted yet.
        case opening
        case connected
    }

    private static let shortestPause: UInt64 = 50
    private static let longestPause: UInt64 = 1000
    /// How often libmosquitto handles keep-alives and repetitions.
    private static let tick: UInt64 = 500
    private static let keepAlive: Int32 = 60

    private let board: Board
    private let address: BindAddress
    private let say: (_ tag: String, _ text: String) -> Void
    private let authority: String
    private let owner: Client
    private var client: OpaquePointer { owner.pointer }
    /// The files of the certificate that the board got by its claim.
    private var claimed: ClaimedFiles?
    private var hasIdentity: Bool
    private let connecting = BackgroundCall()
    private var state = State.offline
    private var pause = shortestPause
    private var nextTick: UInt64 = 0
    private var inFlight: (id: Int32, publication: NodePublication)?
    /// The application's reports besides those of its core, and answers to commands.
    private var waiting: [NodePublication] = []

    /// - Parameter board: it has a certificate and a key, or is still unclaimed. `usesBasicIngest` sends messages only to rules of AWS IoT,
    ///   not to subscribers, which is the firmware's default.
    var usesBasicIngest = true
    /// The translation for RainMaker Neo; nil for RainMaker's own cloud.
    private var neo: NeoNode?

    init(
        _ address: BindAddress, authority: String, board: Board, isNeo: Bool = false,
        say: @escaping (_ tag: String, _ text: String) -> Void
    ) throws {
        self.address = address
        self.authority = authority
        self.board = board
        self.say = say
        hasIdentity = board.credentials.certificate != nil
        neo = isNeo ? NeoNode(node: board.identity.nodeID) : nil
        mosquitto_lib_init()
        // The client id is the node id, and the session outlasts the connection, as in the firmware.
        guard let client = mosquitto_new(board.identity.nodeID, false, nil) else {
            throw StartError("libmosquitto could not create a client: \(systemErrorText(errno))")
        }
        owner = Client(client)
        if let certificate = board.credentials.certificate, let key = board.credentials.key {
            guard mosquitto_tls_set(client, authority, nil, certificate, key, nil) == successCode else {
                throw StartError("--ca, --cert or --key cannot be read: \(authority), \(certificate), \(key)")
            }
        } else if access(authority, R_OK) != 0 {
            throw StartError("--ca cannot be read: \(authority)")
        }
        listen()
        board.observe { [weak self] event in
            guard let self else { return }
            switch event {
            case .claimed: takeIdentity()
            case .joined:
                guard case .offline = state else { return }
                guard hasIdentity else {
                    say(
                        "esp_rmaker_core",
                        "Node connected to Wi-Fi without Assisted claiming. Cannot proceed to MQTT connection.")
                    return board.log(.error, "mqtt", "on Wi-Fi without a certificate: claim the board first")
                }
                state = .waiting(until: 0)
            default: break
            }
        }
    }

    private func listen() {
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client, connected)
        mosquitto_publish_callback_set(client, acknowledged)
        mosquitto_message_callback_set(client, arrived)
    }

    /// Takes the identity of the claimed board: its node id and its certificate.
    private func takeIdentity() {
        guard case .offline = state, let certificate = board.core.certificate, let key = board.core.credential else {
            return
        }
        do {
            let files = try ClaimedFiles(certificate: certificate, key: key.key.pem)
            guard mosquitto_reinitialise(client, board.nodeID, false, nil) == successCode,
                mosquitto_tls_set(client, authority, nil, files.certificate.path, files.key.path, nil) == successCode
            else { throw StartError("libmosquitto does not accept the certificate") }
            listen()
            (claimed, hasIdentity) = (files, true)
        } catch {
            board.log(.error, "mqtt", "the claimed identity cannot be used: \(error)")
        }
    }

    /// Exists until the last connecting thread has finished with it.
    private final class Client: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { mosquitto_destroy(pointer) }
    }

    // MARK: The loop

    var interests: [Interest] {
        if let descriptor = connecting.descriptor { return [Interest(descriptor: descriptor, events: Int16(POLLIN))] }
        let descriptor = mosquitto_socket(client)
        guard descriptor >= 0, isOpen else { return [] }
        return [
            Interest(
                descriptor: descriptor, events: Int16(mosquitto_want_write(client) ? POLLIN | POLLOUT : POLLIN))
        ]
    }

    var due: UInt64? {
        switch state {
        case .offline, .connecting: nil
        case .waiting(let time): time
        case .opening: nextTick
        // An update reports several times a second.
        case .connected: board.services.update.isBusy ? min(nextTick, MonotonicClock.now + 100) : nextTick
        }
    }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {
        if case .connecting = state {
            state = .opening
            nextTick = now + Self.tick
            return check(connecting.result(), now: now)
        }
        if Int32(events) & POLLOUT != 0 { check(mosquitto_loop_write(client, 1), now: now) }
        guard isOpen, Int32(events) & ~POLLOUT != 0 else { return }
        check(mosquitto_loop_read(client, 8), now: now)
    }

    func wake(now: UInt64) {
        switch state {
        case .offline, .connecting: return
        case .waiting(let time):
            guard time <= now else { return }
            open(now: now)
        case .opening, .connected: break
        }
        guard isOpen else { return }
        let isTick = nextTick <= now
        if isTick {
            nextTick = now + Self.tick
            check(mosquitto_loop_misc(client), now: now)
        }
        if isTick || board.services.update.isBusy { board.advanceServices(now: now) }
        for values in board.takeReports() {
            report(.parameters, rule: "esp_set_params", suffix: "params/local", values.serialized())
        }
        for message in board.takeSeries() {
            report(.message, rule: message.rule, suffix: message.suffix, message.payload)
        }
        for message in board.takeMessages() {
            report(.message, rule: message.rule, suffix: message.suffix, message.payload)
        }
        // Reports are sent first.
        if board.isRestarting, inFlight == nil, waiting.isEmpty, board.core.nextPublication == nil {
            return restart(now: now)
        }
        publishNext(now: now)
    }

    func shutDown() {
        if isOpen {
            mosquitto_disconnect(client)
            mosquitto_loop_write(client, 1)
        }
        state = .offline
    }

    private var isOpen: Bool {
        switch state {
        case .offline, .waiting, .connecting: false
        case .opening, .connected: true
        }
    }

    // MARK: Connection

    private func open(now: UInt64) {
        say("esp_mqtt_glue", "Connecting to \(address)")
        let isUnderWay = connecting.start { [owner, address] in
            mosquitto_connect(owner.pointer, address.host, Int32(address.port), Self.keepAlive)
        }
        guard isUnderWay else { return check(Int32(MOSQ_ERR_ERRNO.rawValue), now: now) }
        state = .connecting
    }

    private func check(_ code: Int32, now: UInt64) {
        guard code != successCode else { return }
        let reason =
            code == Int32(MOSQ_ERR_ERRNO.rawValue) ? systemErrorText(errno) : String(cString: mosquitto_strerror(code))
        board.log(.warning, "mqtt", "\(address): \(reason); trying again in \(pause) ms")
        state = .waiting(until: now + pause)
        pause = min(pause * 2, Self.longestPause)
        inFlight = nil
    }

    fileprivate func isConnected(_ code: Int32) {
        guard code == 0 else {
            board.log(
                .error, "mqtt", "\(address) refuses this node: \(String(cString: mosquitto_connack_string(code)))")
            return
        }
        state = .connected
        pause = Self.shortestPause
        say("esp_mqtt_glue", "MQTT Connected")
        board.journal.state("mqtt_connected")
        board.step { $0.connectedToCloud() }
        board.reportSeries()
        board.isOnline(now: MonotonicClock.now)
        if let neo {
            mosquitto_subscribe(client, nil, neo.fromCloud, 1)
            if let topic = neo.userParameters { mosquitto_subscribe(client, nil, topic, 1) }
            waiting.insert(neo.question, at: 0)
            return
        }
        // The node would not learn of a refusal: AWS brokers drop the connection; this one reports it only in its own log.
        mosquitto_subscribe(client, nil, String(decoding: board.core.remoteParametersTopic, as: UTF8.self), 1)
        mosquitto_subscribe(client, nil, String(decoding: board.core.commandTopic, as: UTF8.self), 1)
        mosquitto_subscribe(client, nil, String(decoding: board.core.updateTopic, as: UTF8.self), 1)
    }

    // MARK: Publishing

    private func publishNext(now: UInt64) {
        guard case .connected = state, inFlight == nil, let (publication, topic, payload) = nextMessage() else {
            return
        }
        var id: Int32 = 0
        let code = mosquitto_publish(client, &id, topic, Int32(payload.count), payload, 1, false)
        guard code == successCode else { return check(code, now: now) }
        inFlight = (id, publication)
    }

    /// Returns the next message, and its form for the cloud.
    private func nextMessage() -> (NodePublication, topic: String, payload: [UInt8])? {
        guard neo != nil else {
            return (board.core.nextPublication ?? waiting.first).map { ($0, topic(of: $0), $0.payload) }
        }
        while true {
            var hasDropped = false
            for publication in [board.core.nextPublication, waiting.first].compactMap({ $0 }) {
                switch neo?.handling(of: publication) {
                case .send(let message)?: return (publication, message.topic, message.payload)
                case .drop?:
                    if waiting.first == publication { waiting.removeFirst() }
                    board.step { $0.published(publication) }
                    hasDropped = true
                case .wait?, nil: break
                }
            }
            if !hasDropped { return nil }
        }
    }

    /// Returns `$aws/rules/RULE/node/…`, or the topic without the rule.
    private func topic(of publication: NodePublication) -> String {
        let topic = String(decoding: publication.topic, as: UTF8.self)
        guard !usesBasicIngest, topic.hasPrefix("$aws/rules/") else { return topic }
        return topic.split(separator: "/").dropFirst(3).joined(separator: "/")
    }

    fileprivate func isAcknowledged(_ id: Int32) {
        guard let sent = inFlight, sent.id == id else { return }
        inFlight = nil
        board.journal.publish(
            topic: String(decoding: sent.publication.topic, as: UTF8.self), length: sent.publication.payload.count)
        switch sent.publication.kind {
        case .config:
            say(
                "esp_rmaker_node_config",
                "Reported Node Configuration of length \(sent.publication.payload.count) bytes.")
        case .userMapping:
            say("esp_rmaker_user_mapping", "User Node association message published successfully.")
        case .initialParameters, .parameters, .answer, .message: break
        }
        if waiting.first == sent.publication { waiting.removeFirst() }
        board.step { $0.published(sent.publication) }
    }
}

// MARK: Values from the cloud

extension CloudLink {
    fileprivate func hasArrived(_ payload: UnsafeRawBufferPointer, on topic: String) {
        let message = Array(payload.prefix(RemoteParameters.limit + 1))
        if topic.hasSuffix("/to-node") { return command(message) }
        if topic.hasSuffix("/otaurl") { return board.receiveUpdate(message, now: MonotonicClock.now) }
        if topic == neo?.fromCloud { return answer(message) }
        guard let values = RemoteParameters.parse(message) else {
            return board.log(.warning, "mqtt", "the cloud set parameters in \(payload.count) bytes that cannot be read")
        }
        board.set(values, now: MonotonicClock.now)
    }

    /// Takes an answer of RainMaker Neo. In another group, the node reports everything again.
    private func answer(_ message: [UInt8]) {
        guard let answer = RemoteParameters.parse(message) else {
            return board.log(.warning, "mqtt", "the cloud answered in \(message.count) bytes that cannot be read")
        }
        let before = neo?.userParameters
        guard neo?.take(answer) == true else { return }
        board.journal.state("groups")
        if let before { mosquitto_unsubscribe(client, nil, before) }
        if let topic = neo?.userParameters { mosquitto_subscribe(client, nil, topic, 1) }
        board.step { $0.connectedToCloud() }
        board.reportSeries()
    }

    private func command(_ message: [UInt8]) {
        guard let answer = NodeCommands.answer(to: message) else {
            return board.log(.warning, "mqtt", "a command in \(message.count) bytes that cannot be read")
        }
        board.journal.state("command")
        report(.answer, rule: "esp_cmd_resp", suffix: "from-node", answer)
    }

    private func report(_ kind: NodePublication.Kind, rule: String, suffix: String, _ payload: [UInt8]) {
        // No application reports this much; a cloud that floods the board loses answers.
        guard waiting.count < 64 else { return }
        let topic = Array("$aws/rules/\(rule)/node/\(board.nodeID)/\(suffix)".utf8)
        waiting.append(NodePublication(kind: kind, topic: topic, payload: payload))
    }

    /// Restarts the board: it leaves the broker without a message, and comes back.
    private func restart(now: UInt64) {
        board.restarted()
        board.journal.state("restarted")
        mosquitto_disconnect(client)
        inFlight = nil
        state = board.services.update.staysAway ? .offline : .waiting(until: now + Self.longestPause)
    }
}

private let successCode = Int32(MOSQ_ERR_SUCCESS.rawValue)

// Called from within `mosquitto_loop_read`, on the only thread.

private func connected(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ code: Int32) {
    guard let context else { return }
    Unmanaged<CloudLink>.fromOpaque(context).takeUnretainedValue().isConnected(code)
}

private func acknowledged(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ id: Int32) {
    guard let context else { return }
    Unmanaged<CloudLink>.fromOpaque(context).takeUnretainedValue().isAcknowledged(id)
}

private func arrived(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<mosquitto_message>?
) {
    // There are no other subscriptions.
    guard let context, let message = message?.pointee, message.payloadlen >= 0 else { return }
    let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
    let topic = message.topic.map { String(cString: $0) } ?? ""
    Unmanaged<CloudLink>.fromOpaque(context).takeUnretainedValue().hasArrived(payload, on: topic)
}

/// The content of `params/remote`: `{"Light":{"Power":false}}`.
enum RemoteParameters {
    /// More bytes than all values of the board need.
    static let limit = 16_384

    /// Returns nil if it is not a JSON object, or is longer than ``limit``.
    static func parse(_ message: [UInt8]) -> JSONValue? {
        let limits = JSONLimits(maximumBytes: limit, maximumDepth: 12, maximumValues: 1024)
        guard let value = try? JSONValue(parsing: message, limits: limits), value.members != nil else { return nil }
        return value
    }
}

extension NodeParameters.Change {
    /// Reads the values of the light. Unknown devices and parameters, and values of other types, are ignored, as in firmware.
    ///
    /// - Returns: nil if it is not a JSON object, or is longer than ``RemoteParameters/limit``.
    init?(message: [UInt8]) {
        guard let value = RemoteParameters.parse(message) else { return nil }
        self.init(value)
    }

    /// Reads the light's values from the new ones.
    init(_ value: JSONValue) {
        let light = value["Light"]
        self.init(name: (light?["Name"]?.string).map { Array($0.utf8) }, isOn: light?["Power"]?.bool)
    }
}

/// Certificate and key of a claim as files, which libmosquitto requires. They have no names and end with the process.
private struct ClaimedFiles {
    let certificate: NamelessFile
    let key: NamelessFile

    init(certificate: [UInt8], key: [UInt8]) throws {
        self.certificate = try NamelessFile(certificate)
        self.key = try NamelessFile(key)
    }
}

/// A file that is unlinked at once. Other code of this process opens it by its descriptor.
private final class NamelessFile {
    private let descriptor: Int32
    var path: String { "/proc/self/fd/\(descriptor)" }

    init(_ bytes: [UInt8]) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/firmware-sim-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw StartError("no temporary file: \(systemErrorText(errno))") }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw StartError("a temporary file cannot be written: \(systemErrorText(errno))")
        }
    }

    deinit { close(descriptor) }
}
