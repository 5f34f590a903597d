// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

/// Shows boards in Home Assistant.
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge", abstract: "Show and control boards in Home Assistant, over an MQTT broker.",
        discussion: """
            Example: rainctl bridge mqtt://localhost

            The boards of the account appear in Home Assistant, with their rooms. The bridge runs until Ctrl-C. After an outage of the broker or of the cloud, it continues. With --json, each event is one line of JSON.
            """)

    @Argument(help: ArgumentHelp("The broker: mqtt://[USER@]HOST[:PORT], or mqtts:// with TLS.", valueName: "broker"))
    var broker: String

    @Option(help: ArgumentHelp("The user's name at the broker.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("Read the password for the broker from a file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp("Trust the CA certificates in this file for the broker.", valueName: "file"),
        completion: .file())
    var brokerCA: String?

    @Option(
        help: ArgumentHelp("Show this certificate to the broker.", valueName: "file"), completion: .file())
    var clientCert: String?

    @Option(help: ArgumentHelp("The key of that certificate.", valueName: "file"), completion: .file())
    var clientKey: String?

    @Option(help: ArgumentHelp("The first level of the bridge's topics.", valueName: "topic"))
    var baseTopic = "rainkit"

    @Option(help: ArgumentHelp("Home Assistant's discovery prefix.", valueName: "topic"))
    var discoveryPrefix = "homeassistant"

    @Option(
        help: ArgumentHelp("Show only these boards: ids or names with commas between them.", valueName: "boards"),
        completion: .nodes)
    var boards: String?

    @Flag(help: "Show everything, and set nothing.")
    var readOnly = false

    @Flag(help: "Send commands through the cloud, also to boards on this machine's network.")
    var noLocal = false

    @Option(
        help: ArgumentHelp(
            "Wait this long between two requests for the cloud's list of boards. The minimum is 1s, or 0.1s for each board if that is longer.",
            valueName: "time"))
    var interval = DurationArgument(.seconds(5))

    @Option(
        name: .customLong("also-account"),
        help: ArgumentHelp("Show the boards of this account, too; repeatable.", valueName: "name"),
        completion: .accounts)
    var otherAccounts: [String] = []

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if (clientCert == nil) != (clientKey == nil) {
            throw ValidationError("--client-cert and --client-key go together.")
        }
        if interval.duration < .seconds(1) { throw ValidationError("--interval must be at least 1s.") }
    }

    func run() async throws {
        let context = try Context(options)
        let place = try address(context)
        let kits = try [context.rainMakerClient()] + otherAccounts.map { try context.client(account: $0) }
        var settings = HomeAssistantBridge.Options(
            topics: try HomeAssistantTopics(base: baseTopic, prefix: discoveryPrefix))
        settings.boards = boards.map {
            $0.split(separator: ",").map { String($0).withoutOuterBlanks }.filter { !$0.isEmpty }
        }
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
        }) {
            do { try await work.value } catch {
                guard let remedy = bridge.remedy else { throw error }
                var failure = CommandFailure(error)
                failure.message += " \(advice(remedy))"
                throw failure
            }
        }
    }

    private func advice(_ remedy: BrokerRemedy) -> String {
        switch remedy {
        case .credentials: "Give them with --user and --password-file."
        case .authorities: "Name the file of certificates to trust with --broker-ca."
        case .clientCertificate: "Give the certificate and its key with --client-cert and --client-key."
        }
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
            throw CommandFailure(.usage, message: "Certificates are for an encrypted connection: use mqtts://.")
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
