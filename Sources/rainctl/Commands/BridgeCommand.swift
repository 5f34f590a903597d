// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

/// Shows boards in Home Assistant.
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "bridge", abstract: "Show and control boards in Home Assistant, over an MQTT broker.",
        discussion: """
            Example: rainctl bridge mqtt://localhost

            The boards of the account appear in Home Assistant, with their rooms. The bridge runs until Ctrl-C. If the broker or the cloud \
            fails, the bridge waits and then continues. With --json, each event is one line of JSON.
            """)

    @Argument(help: ArgumentHelp("The broker: mqtt://[USER@]HOST[:PORT], or mqtts:// with TLS.", valueName: "broker"))
    var broker: String

    @Option(help: ArgumentHelp("Sign in at the broker with this user name.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("Read the password for the broker from a file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust the CA certificates in this file for the connection to the broker.", valueName: "file"),
        completion: .file())
    var brokerCA: String?

    @Option(
        help: ArgumentHelp("Authenticate at the broker with the certificate in this file.", valueName: "file"),
        completion: .file())
    var clientCert: String?

    @Option(
        help: ArgumentHelp("Use the private key in this file with --client-cert.", valueName: "file"),
        completion: .file())
    var clientKey: String?

    @Option(help: ArgumentHelp("Begin the bridge's MQTT topics with this word.", valueName: "topic"))
    var baseTopic = "rainkit"

    @Option(
        help: ArgumentHelp(
            "Use this discovery prefix. It must be the same as in the settings of Home Assistant.", valueName: "topic"))
    var discoveryPrefix = "homeassistant"

    @Option(
        help: ArgumentHelp("Show only these boards: ids or names, separated by commas.", valueName: "boards"),
        completion: .nodes)
    var boards: String?

    @Flag(help: "Show all values in Home Assistant, but do not allow changes.")
    var readOnly = false

    @Flag(help: "Send all commands through the cloud, even to boards on this machine's network.")
    var noLocal = false

    @Option(
        help: ArgumentHelp(
            "Ask the cloud for the boards at this interval. The minimum is 1s. For more than 10 boards it is 0.1s times their number.",
            valueName: "time"))
    var interval = DurationArgument(.seconds(5))

    @Option(
        name: .customLong("also-account"),
        help: ArgumentHelp("Also show the boards of this account (repeatable).", valueName: "name"),
        completion: .accounts)
    var otherAccounts: [String] = []

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if (clientCert == nil) != (clientKey == nil) {
            throw ValidationError("Give both --client-cert and --client-key, or neither.")
        }
        if let boards, names(boards).isEmpty { throw ValidationError("--boards names no board.") }
        if interval.duration < .seconds(1) { throw ValidationError("--interval must be at least 1s.") }
    }

    func run() async throws {
        let context = try Context(options)
        let place = try address(context)
        let kits = try [context.rainMakerClient()] + otherAccounts.map { try context.client(account: $0) }
        var settings = HomeAssistantBridge.Options(
            topics: try HomeAssistantTopics(base: baseTopic, prefix: discoveryPrefix))
        settings.boards = boards.map(names)
        settings.isReadOnly = readOnly
        settings.interval = interval.duration
        settings.usesLocalControl = !noLocal
        let bridge = HomeAssistantBridge(kits, to: place, options: settings)
        let service = SystemdService()
        let output = context.output
        // Cancelled by the first signal.
        let work = Task {
            try await bridge.run { event in
                switch event {
                case .alive: return service.notify(.alive)
                case .ready(let count):
                    service.notify(.ready)
                    service.notify(.status("\(count.counting("board"))"))
                default: break
                }
                output.piece(TimedDocument(BridgeEvent(event)), text: "\(Timestamp.now)  \(event)")
            }
        }
        try await Interruption.endingGently({
            service.notify(.stopping)
            work.cancel()
        }) { try await work.value }
    }

    private func names(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0).withoutOuterBlanks }.filter { !$0.isEmpty }
    }

    private func address(_ context: Context) throws -> MQTTBroker {
        var place = try MQTTBroker(broker)
        if let user { place.user = user }
        place.password = try SecretSource(
            name: "password for the broker", flag: "--password", file: passwordFile, takesValue: false
        ).read(environment: [:], output: context.output)
        if place.password != nil, place.user == nil {
            throw CommandFailure(.usage, message: "--password-file needs the user's name: add --user.")
        }
        if !place.isSecure, brokerCA != nil || clientCert != nil {
            throw CommandFailure(.usage, message: "Certificates need an encrypted connection: use mqtts://.")
        }
        place.certificateAuthorities = brokerCA
        place.certificate = clientCert
        place.key = clientKey
        return place
    }
}

/// A line of JSON for an event of a bridge.
struct BridgeEvent: Encodable, Equatable {
    var event: String
    var nodeID: String?
    var name: String?
    var entity: String?
    var topic: String?
    var boards: Int?
    var entities: Int?
    var message: String?

    private enum CodingKeys: String, CodingKey {
        case event
        case nodeID = "node_id"
        case name, entity, topic, boards, entities, message
    }

    init(_ event: HomeAssistantBridge.Event) {
        switch event {
        case .connected: self.event = "connected"
        case .disconnected(let reason): (self.event, message) = ("disconnected", reason)
        case .warning(let text): (self.event, message) = ("warning", text)
        case .ready(let count): (self.event, boards) = ("ready", count)
        case .added(let node, let count):
            (self.event, nodeID, name, entities) = ("added", node.id.rawValue, node.displayName, count)
        case .removed(let id, let given): (self.event, nodeID, name) = ("removed", id.rawValue, given)
        case .connectivity(let id, let given, let isOnline):
            (self.event, nodeID, name) = (isOnline ? "online" : "offline", id.rawValue, given)
        case .done(let id, let given, let changes):
            (self.event, nodeID, name) = ("done", id.rawValue, given)
            message = changes.map { "\($0.path)=\($0.value.shown)" }.joined(separator: ", ")
        case .refused(let id, let given, let key, let reason):
            (self.event, nodeID, name, entity, message) = ("refused", id.rawValue, given, key, reason)
        case .ignored(let place, .retained): (self.event, topic, message) = ("ignored", place, "retained")
        case .ignored(let place, .unknownEntity): (self.event, topic, message) = ("ignored", place, "unknown_entity")
        case .cloud(nil): self.event = "cloud_reachable"
        case .cloud(let problem?): (self.event, message) = ("cloud_unreachable", problem)
        case .alive: self.event = "alive"
        }
    }
}
