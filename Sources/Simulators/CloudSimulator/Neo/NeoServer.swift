// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// A simulated RainMaker Neo: its accounts on one port, its main API and the WebSocket of its broker on another, and its broker for nodes.
///
/// It keeps its groups in memory. The keys of nodes are in a folder.
public final class NeoServer: Sendable {
    public let api: NeoAPI
    private let identity: IdentityServer
    private let folder: DataFolder
    private let listener: HTTPListener
    private let broker: Broker
    private let connection: BrokerConnection
    /// The address of the main API, with its stage.
    public let url: String
    private let mqtt: String

    /// Starts it. It answers until ``stop()``.
    ///
    /// - Parameters:
    ///   - listen: the address of the main API. The other ports are free ones of the same host.
    ///   - dataFolder: for keys and certificates; nil for a temporary folder.
    ///   - nodes: the nodes that the cloud knows.
    ///   - onBrokerDeath: called on any thread when the broker ends by itself.
    public init(
        listen: ListenAddress, dataFolder: String? = nil, nodes: [NodeSpecification], journal: Journal,
        clock: @escaping @Sendable () -> Int64 = wallClock, onBrokerDeath: @escaping @Sendable () -> Void = {}
    ) throws(SimulatorError) {
        let folder = try DataFolder(path: dataFolder)
        do throws(SimulatorError) {
            let identity = try IdentityServer(
                provider: .neo, listen: ListenAddress(host: listen.host, port: 0), journal: journal, clock: clock)
            let api = try NeoAPI(
                identity: identity.api, keys: try KeyRing(folder: folder), nodes: nodes, journal: journal, clock: clock)
            let listener = try HTTPListener(
                address: listen, clock: { api.now }, refusal: { api.refuse(status: $0, reason: $1) },
                handler: { api.respond(to: $0) })
            let broker = try Broker.start(host: listen.host, preferred: nil, keys: api.keys, folder: folder) { event in
                switch event {
                case .connected(let node): api.setConnected(true, node: node)
                case .disconnected(let node): api.setConnected(false, node: node)
                case .died: onBrokerDeath()
                case .running, .portTaken: break
                }
            }
            let connection: BrokerConnection
            do throws(SimulatorError) {
                connection = try BrokerConnection.open(
                    to: broker.address, keys: api.keys,
                    topics: ["$aws/rules/#", "$aws/things/#", "rainmaker/nodes/#"]
                ) { topic, payload in
                    api.receive(topic: topic, payload: payload)
                }
            } catch {
                broker.stop()
                throw error
            }
            api.outbox.withLock { $0 = NeoAPI.Outbox { connection.publish($1, to: $0) } }
            let host = listen.urlHost
            let root = "http://\(host):\(listener.port)"
            (url, mqtt) = (root + NeoAPI.stage, "\(host):\(broker.address.port)")
            let outputs: JSONValue = [
                "rmng-base": [
                    "StackRegion": .string(NeoAPI.region), "StackAccountId": "000000000000",
                    "ApiGatewayUrl": .string(root + NeoAPI.stage + "/"),
                    "IoTEndpointUrl": .string("ws://\(host):\(listener.port)"),
                ],
                "espuser-base": ["EspUserApiUrl": .string(identity.url + "/"), "EspUserClientId": "native-1"],
            ]
            api.outputs.withLock { $0 = outputs }
            (self.api, self.identity, self.folder, self.listener) = (api, identity, folder, listener)
            (self.broker, self.connection) = (broker, connection)
            listener.start()
        } catch {
            folder.removeIfTemporary()
            throw error
        }
    }

    /// The addresses of all parts: the line that `cloud-sim neo` prints when it is ready.
    public var readyLine: JSONValue {
        [
            "ready": true, "api": .string(url), "accounts": .string(identity.url),
            "outputs": .string(String(url.dropLast(NeoAPI.stage.count)) + "/rmng-client-outputs.json"),
            "mqtt": .string(mqtt), "ca": .string(api.keys.authorityFile),
            "nodes": .object(
                api.nodeFiles.map { .init($0.id, ["cert": .string($0.certificate), "key": .string($0.key)]) }),
        ]
    }

    public func stop() {
        api.outbox.withLock { $0 = nil }
        listener.stop()
        identity.stop()
        connection.stop()
        broker.stop()
        folder.removeIfTemporary()
    }
}
