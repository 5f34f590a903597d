// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import ESPProvisioning
import RainKit

/// The commands for a board that do not provision it.
struct Device: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Find, inspect and claim boards, exchange data with them, and reset their Wi-Fi.",
        subcommands: [
            DeviceDiscover.self, DeviceInfo.self, DeviceScan.self, DeviceClaim.self, DeviceReset.self,
            DeviceMonitor.self, DeviceSend.self, DeviceParams.self,
        ])
}

/// The common parts of commands that ask a board one question.
protocol DeviceCommand: AsyncParsableCommand {
    var device: DeviceOptions { get }
    var timeout: DurationArgument { get }
    var options: GlobalOptions { get }
}

extension DeviceCommand {
    /// Returns the context of the command's options, with the form of the list if it prints one.
    func context() throws(CommandFailure) -> Context {
        try device.context(options, list: (self as? any ListCommand)?.format)
    }

    /// Opens the board, asks, and closes the board, all within the command's time.
    ///
    /// - Parameter followsLog: whether a board that takes no commands on its cable is asked over the transport that its log names.
    func withBoard<Answer: Sendable>(
        followsLog: Bool = true, within time: TimeBudget? = nil,
        _ ask: @escaping @Sendable (any Board) async throws -> Answer
    ) async throws -> (Answer, Output) {
        let context = try context()
        let time = time ?? TimeBudget(timeout)
        let target = try await BoardTarget(device, context, context.boardClient(), within: time)
        let answer = try await target.askingForProofAgain(context, within: time) { target in
            let unopened = try await target.locate(within: time, followsLog: followsLog)
            return try await time.run(unfinished: "no board has answered at \(unopened.peer.onOneLine) yet") {
                let board = try await unopened.open()
                do {
                    let answer = try await ask(board)
                    await board.close()
                    return answer
                } catch {
                    await board.close()
                    throw error
                }
            }
        }
        return (answer, context.output)
    }
}

struct DeviceInfo: DeviceCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "info", abstract: "Show a board's chip, firmware and capabilities.",
        discussion: "Example: rainctl device info --transport serial --port /dev/ttyUSB0")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (identity, output) = try await withBoard(followsLog: false) { board in try await board.identify() }
        output.result(DeviceInfoResult(identity))
    }
}

/// A board's description of itself.
struct DeviceInfoResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ identity: BoardIdentity) {
        if identity.takesCommands { addAnswer(identity) } else { addWay(identity) }
        if let printed = identity.printed { values.add(printed) }
    }

    /// Adds the board's answer.
    private mutating func addAnswer(_ identity: BoardIdentity) {
        let version = identity.version.onOneLine
        values.add("version", identity.version, line: "version: \(version.isEmpty ? "unknown" : version)")
        // The scheme, its patch version, and whether it needs a proof of possession: all three, or nothing if the board did not report
        // them.
        if let security = identity.security {
            let proof = security.needsProofOfPossession
            values.add(
                "security", security.version,
                line: "security: \(security.version), \(proof ? "with" : "without") proof of possession")
            values.add(memberOnly: "patch", security.patch)
            values.add(memberOnly: "proof_of_possession", proof)
        }
        values.add("node_id", identity.nodeID?.rawValue)
        if !identity.speaksImprov { values.add("association", identity.association.rawValue) }
        // `null` if the board does not report it.
        values.add(memberOnly: "needs_claim", identity.speaksImprov ? nil : identity.needsClaim)
        switch identity.needsClaim {
        case true?: values.add(line: "needs to be claimed")
        case false?: break
        case nil: values.add(line: "needs to be claimed: unknown (the console does not report this)")
        }
        values.add(memberOnly: "capabilities", identity.capabilities)
        if !identity.capabilities.isEmpty {
            values.add(line: "capabilities: \(identity.capabilities.joined(separator: " ").onOneLine)")
        }
    }

    /// Adds where the board is provisioned according to its log, if it takes no commands here.
    private mutating func addWay(_ identity: BoardIdentity) {
        values.add(memberOnly: "takes_commands", false)
        guard let way = identity.reachedAt else {
            values.add(line: "accepts no commands on this port: it only prints its log")
            return
        }
        let words = String(way.prefix { $0 != ":" }).wayToBoard
        values.add("reached_at", way, line: "accepts no commands on this port: provision the board \(words)")
        values.add("node_id", identity.nodeID?.rawValue)
    }
}

extension LabelledValues {
    /// Adds what a board prints about itself.
    mutating func add(_ printed: PrintedIdentity) {
        if let chip = printed.chip {
            let revision = printed.revision.map { " \($0)" } ?? ""
            add("chip", chip, line: "chip: \(chip)\(revision)".onOneLine)
            if let revision = printed.revision { add(memberOnly: "chip_revision", revision) }
        }
        add("mac", printed.macAddress)
        if let application = printed.application {
            let version = printed.applicationVersion.map { " \($0)" } ?? ""
            add("application", application, line: "application: \(application)\(version)".onOneLine)
            if let version = printed.applicationVersion { add(memberOnly: "application_version", version) }
        }
        add("esp_idf", label: "ESP-IDF", printed.framework)
        add("started", label: "last start", printed.startReason)
        add("name", printed.serviceName)
        if printed.isProvisioned {
            add("has_network", true, line: "already has a Wi-Fi network, and is not waiting for another one")
        }
        add("ip", printed.address)
    }
}

struct DeviceScan: DeviceCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "scan", abstract: "List the Wi-Fi networks in a board's range, strongest first.",
        discussion: "Example: rainctl device scan --transport softap --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @Option(help: .listForm) var format = ListForm.text
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (found, output) = try await withBoard { board in
            _ = try await board.identify()
            try await board.secure()
            return try await board.scan()
        }
        if found.mayLackNetworks { output.warn(NetworkMessages.fullScan, reason: "scan_full") }
        output.result(ScanResult(found))
        if found.isEmpty, !options.isJSON { output.say(NetworkMessages.emptyScan) }
    }
}

/// The networks that a board hears, strongest first.
struct ScanResult: CommandResult {
    let networks: [Network]

    var text: String { networks.map(\.line).joined(separator: "\n") }

    struct Network: Encodable, Sendable {
        /// `null` if the name is not text.
        @NullIfAbsent var ssid: String?
        let ssidHex: String
        let bssid: String
        let channel: Int
        let rssi: Int
        let auth: String
        /// The name as a terminal can show it.
        @TextOnly private(set) var shown: String

        fileprivate var line: String {
            "\(rssi) dBm  ch \(channel)  \(bssid)  \(auth)  \(ssidHex.isEmpty ? "(hidden)" : shown)"
        }
    }
}

extension ScanResult: ListResult {
    var table: ListTable {
        ListTable(member: "networks", columns: ["ssid", "ssid_hex", "bssid", "channel", "rssi", "auth"])
    }
}

extension ScanResult {
    init(_ found: [AccessPoint]) {
        networks = found.map { point in
            Network(
                ssid: NullIfAbsent(wrappedValue: point.ssid.argument), ssidHex: point.ssid.hex,
                bssid: point.bssid.map { Hex.text([$0]) }.joined(separator: ":"),
                channel: point.channel, rssi: point.rssi, auth: point.protection.description,
                shown: point.ssid.description)
        }
    }
}

struct DeviceReset: DeviceCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "reset", abstract: "Make a board forget failed Wi-Fi settings, so that it accepts new ones.",
        discussion: "Example: rainctl device reset --port /dev/ttyUSB0 --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (_, output) = try await withBoard { board in
            try await board.identify().checkHasReset(board.peer)
            try await board.secure()
            try await board.reset()
        }
        output.result(ResetResult())
    }
}

/// Reports that a board has forgotten Wi-Fi settings that failed.
struct ResetResult: ConfirmingResult {
    let reset = true

    var text: String { "The board has forgotten its last Wi-Fi settings." }
}
