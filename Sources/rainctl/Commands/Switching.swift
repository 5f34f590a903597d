// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct SwitchOn: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "on", abstract: "Switch lamps or other devices on.",
        discussion: """
            Example: rainctl on 'Kitchen lamp'

            LAMP is a board's node id or name. If the board has several devices, rainctl uses the first one that can be switched on \
            and off, by a parameter of the type esp.param.power. To switch another device, write LAMP/DEVICE. rainctl waits until the boards have \
            reported the change.
            """)

    @OptionGroup var lamps: LampArguments
    @OptionGroup var route: RouteOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws { try await route.change(.power(true), at: lamps.lamps, options) }
}

struct SwitchOff: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "off", abstract: "Switch lamps or other devices off.",
        discussion: """
            Example: rainctl off 'Kitchen lamp'

            rainctl off works like rainctl on, and has the same options.
            """)

    @OptionGroup var lamps: LampArguments
    @OptionGroup var route: RouteOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws { try await route.change(.power(false), at: lamps.lamps, options) }
}

struct SwitchToggle: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "toggle", abstract: "Switch lamps or other devices on if they are off, and off if they are on.",
        discussion: """
            Example: rainctl toggle 'Kitchen lamp'

            rainctl uses the state that each board last reported. In all other respects, rainctl toggle works like rainctl on.
            """)

    @OptionGroup var lamps: LampArguments
    @OptionGroup var route: RouteOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws { try await route.change(.toggle, at: lamps.lamps, options) }
}

struct SetPrimary: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Set the main value of a lamp or another device.",
        discussion: """
            Example: rainctl set Fan 3

            The firmware decides which value of a device is the main one (the primary parameter). For a lamp this is usually the power, for a \
            fan the speed. To set other values, use rainctl node params set. If a board has several devices, write LAMP/DEVICE. Put -- before a negative \
            value.
            """)

    @Argument(
        help: ArgumentHelp("One or more boards, by node id or name, separated by commas.", valueName: "lamp"),
        completion: .nodes)
    var lamps: String

    @Argument(help: "The new value, such as on, 40 or 'warm white'.")
    var value: String

    @OptionGroup var route: RouteOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws { try await route.change(.primaryText(value), at: [lamps], options) }
}

struct LampArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The boards, by node id or name. For one device of a board, write LAMP/DEVICE.", valueName: "lamp"),
        completion: .nodes)
    var lamps: [String]
}

/// How a short command reaches the boards, and how long it waits.
struct RouteOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: "Wait until the boards have reported the change.")
    var wait = true

    @OptionGroup(title: "Direct connection to the board") var local: LocalOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(15))

    func change(_ change: DeviceChange, at lamps: [String], _ options: GlobalOptions) async throws {
        guard local.host == nil || lamps.count == 1 else {
            throw CommandFailure(.usage, message: "--host is for one board at a time.")
        }
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let route = try local.route(within: time)
        let client =
            local.local ? (try? context.rainMakerClient()) ?? context.boardClient() : try context.rainMakerClient()
        // Local control always waits for the node's answer.
        let limit = wait || local.local ? time.leftForWaiting : nil
        let output = context.output
        let outcomes = try await time.run {
            try await client.change(change, at: lamps, over: route, waiting: limit) { away in
                output.say(ReportWait.note(offline: away, time.total))
            }
        }
        try DeviceChangeResult(outcomes, change).tell(output)
    }
}

/// The outcome of a short command, device by device.
struct DeviceChangeResult: CommandResult {
    let devices: [Entry]
    /// The same by boards, for the error.
    @TextOnly private var boards: ParamsSetResult
    @TextOnly private var change: DeviceChange

    struct Entry: Encodable, Sendable {
        let nodeID: String
        let name: String
        let path: String
        let value: JSONValue
        /// As in the result of `node params set`.
        let state: String
        /// `cloud` or `local`.
        let route: String
        let message: String?
        let errorCode: Int?
        @TextOnly fileprivate var target: ParameterPath
        /// The name for the text: the id if two boards have one name.
        @TextOnly fileprivate var shownName: String
        @TextOnly fileprivate var isOffline: Bool
    }

    init(_ outcomes: [DeviceOutcome], _ change: DeviceChange) {
        var parameters: [ParameterSetOutcome] = []
        for outcome in outcomes where !parameters.contains(where: { $0.node == outcome.node }) {
            parameters.append(outcome.parameters)
        }
        let names = Dictionary(outcomes.map { ($0.node.rawValue, $0.name) }) { first, _ in first }
        let boards = ParamsSetResult(
            parameters, names: names, isLocal: !outcomes.isEmpty && outcomes.allSatisfy(\.isLocal))
        devices = outcomes.map { outcome in
            let board = boards.nodes.first { $0.nodeID == outcome.node.rawValue }
            let isUnique = outcomes.allSatisfy { $0.node == outcome.node || $0.name != outcome.name }
            return Entry(
                nodeID: outcome.node.rawValue, name: outcome.name, path: "\(outcome.change.path)",
                value: outcome.change.value, state: board?.state ?? "sent", route: outcome.isLocal ? "local" : "cloud",
                message: board?.message, errorCode: board?.errorCode, target: outcome.change.path,
                shownName: isUnique ? outcome.name : outcome.node.rawValue, isOffline: board?.isOffline ?? false)
        }
        self.boards = boards
        self.change = change
    }

    var text: String { devices.map(line).joined(separator: "\n") }

    var isProse: Bool { true }

    var confirmedLines: [Int] {
        devices.indices.filter { ["reported", "sent"].contains(devices[$0].state) && !devices[$0].isOffline }
    }

    private func line(_ entry: Entry) -> String {
        let (device, name) = (entry.target.component, entry.shownName)
        let subject = device == name ? name : "\(name) (\(device))"
        let done =
            switch change {
            case .power, .toggle: "Switched \(entry.value == true ? "on" : "off") \(subject)"
            case .primary, .primaryText:
                "Set \(name) to \(entry.value.shown) (\(entry.path))"
            }
        return switch entry.state {
        case "reported": done.onOneLine
        case "sent" where entry.isOffline:
            "\(name) is offline: the cloud has sent the value, but the board may not get it".onOneLine
        case "sent": "\(done), according to the cloud; the board has not answered yet".onOneLine
        case "silent":
            "\(name): the cloud has sent the value, but the board has not reported it in time\(entry.message.map { "; it \($0)" } ?? "")"
                .onOneLine
        case "unknown": "\(name): it is not known whether the cloud has sent the value".onOneLine
        default: "\(name): failed: \(entry.message ?? "")".onOneLine
        }
    }

    /// Prints the result. Throws if a board has not reported the change, so that a script notices.
    func tell(_ output: Output) throws(CommandFailure) {
        guard var failure = boards.commandFailure else { return output.result(self) }
        // The error says the same of a single device.
        if !output.isJSON, devices.count > 1 { output.result(self) }
        failure.result = self
        throw failure
    }
}
