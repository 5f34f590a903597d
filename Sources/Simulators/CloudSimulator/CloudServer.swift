// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import RainIO
import RainJSON
import Synchronization

/// A simulated RainMaker cloud: its REST API on one port, its MQTT broker on another.
///
/// ``start(_:)`` returns when both answer. ``stop()`` ends both, and removes the files of a temporary folder.
public final class CloudServer: Sendable {
    public struct Configuration: Sendable {
        /// The address of the API. The broker uses a free port on the same host.
        public var listen = ListenAddress(host: "127.0.0.1", port: 0)
        /// The data folder; nil for a temporary one.
        public var dataFolder: String?
        /// Name and password of each account.
        public var users: [(name: String, password: String)] = []
        /// The names of the users who are super-admins.
        public var superAdmins: [String] = []
        public var nodes: [NodeSpecification] = []
        /// The path of the journal in NDJSON; nil for no journal.
        public var journal: String?
        /// The path of an NDJSON file for the codes that users would get by e-mail or SMS; nil for no file.
        public var mailbox: String?
        /// The path of an NDJSON file with records of time series; nil for no records.
        public var series: String?
        public var options = CloudAPI.Options()
        /// Called on any thread when the broker ends by itself. The API keeps running, but receives no messages from nodes.
        public var onBrokerDeath: @Sendable () -> Void = {}

        public init() {}
    }

    public let api: CloudAPI
    private let folder: DataFolder
    private let listener: HTTPListener
    private let broker: Broker
    private let connection: BrokerConnection
    private let apiAddress: String

    public static func start(_ configuration: Configuration) throws(SimulatorError) -> CloudServer {
        let folder = try DataFolder(path: configuration.dataFolder)
        do throws(SimulatorError) {
            return try CloudServer(configuration, folder: folder)
        } catch {
            folder.removeIfTemporary()
            throw error
        }
    }

    private init(_ configuration: Configuration, folder: DataFolder) throws(SimulatorError) {
        let journal = try Journal(path: configuration.journal, clock: configuration.options.clock)
        let mailbox = try Mailbox(path: configuration.mailbox)
        let api = try CloudAPI(folder: folder, journal: journal, mailbox: mailbox, options: configuration.options)
        for user in configuration.users { try api.addUser(name: user.name, password: user.password) }
        for name in configuration.superAdmins { try api.promote(name: name) }
        for node in configuration.nodes { try api.addNode(node) }
        if let path = configuration.series { try api.loadSeries(path) }
        let listener = try HTTPListener(
            address: configuration.listen, clock: { api.now }, refusal: { api.refuse(status: $0, reason: $1) },
            handler: { api.respond(to: $0) })
        let host = configuration.listen.host
        let broker: Broker
        let connection: BrokerConnection
        do throws(SimulatorError) {
            broker = try Broker.start(
                host: host, preferred: api.readState(\.brokerPort), keys: api.keys, folder: folder
            ) { event in
                switch event {
                case .connected(let node): api.setConnected(true, node: node)
                case .disconnected(let node): api.setConnected(false, node: node)
                case .died: configuration.onBrokerDeath()
                case .running, .portTaken: break
                }
            }
        } catch {
            listener.stop()
            throw error
        }
        do throws(SimulatorError) {
            connection = try BrokerConnection.open(to: broker.address, keys: api.keys) { topic, payload in
                api.receive(topic: topic, payload: payload)
            }
            try api.changeState { $0.brokerPort = broker.address.port }
        } catch {
            broker.stop()
            listener.stop()
            throw error
        }
        api.outbox.withLock { [connection] outbox in
            outbox = CloudAPI.Outbox { connection.publish($2, to: "node/\($0)/\($1)") }
        }
        apiAddress = "http://\(configuration.listen.urlHost):\(listener.port)"
        api.addresses.withLock { [apiAddress] in
            $0 = (apiAddress, "\(configuration.listen.urlHost):\(broker.address.port)")
        }
        (self.api, self.folder, self.listener) = (api, folder, listener)
        (self.broker, self.connection) = (broker, connection)
        listener.start()
    }

    /// The addresses of all parts: the line that `cloud-sim` prints when it is ready.
    public var readyLine: JSONValue {
        [
            "ready": true,
            "api": .string(apiAddress),
            "claim": .string(apiAddress),
            "mqtt": .string(api.addresses.withLock { $0.mqtt }),
            "ca": .string(api.keys.authorityFile),
            "nodes": .object(
                api.nodeFiles.map { .init($0.id, ["cert": .string($0.certificate), "key": .string($0.key)]) }),
        ]
    }

    public func stop() {
        api.outbox.withLock { $0 = nil }
        listener.stop()
        connection.stop()
        broker.stop()
        folder.removeIfTemporary()
    }
}

/// Why the simulator cannot start or continue. The message has advice.
public struct SimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable {
        private enum Value { case usage, unavailable, storage, crypto }
        private let value: Value

        /// An option is invalid.
        public static let usage = Code(value: .usage)
        /// A required program or port is missing or in use, such as mosquitto.
        public static let unavailable = Code(value: .unavailable)
        /// The data folder cannot be read or written.
        public static let storage = Code(value: .storage)
        /// libcrypto failed.
        public static let crypto = Code(value: .crypto)
    }

    public var code: Code
    public var description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Runs `body` on a new thread, which ends with it. If the thread cannot be started, the simulator ends.
func mustStartThread(_ body: @escaping @Sendable () -> Void) {
    let failure = startThread(body)
    precondition(failure == 0, "no thread could be started: \(systemErrorText(failure))")
}

/// Returns the milliseconds since 1970.
@Sendable public func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
