import ArgumentParser
import RainKit

/// Shows boards as they are found.
struct DeviceDiscover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover", abstract: "Find boards that wait to be provisioned.",
        discussion: "Example: rainctl device discover --transport ble")

    enum Transport: String, ExpressibleByArgument, CaseIterable { case auto, serial, ble }
    enum Events: String, ExpressibleByArgument, CaseIterable { case ndjson }

    @Option(help: "Where to look; auto looks everywhere.")
    var transport: Transport = .auto

    @Option(help: ArgumentHelp("The Bluetooth adapter, such as hci0, or its address.", valueName: "adapter"))
    var adapter: String?

    @Option(
        name: [.customLong("device-name"), .customLong("device_name", withSingleDash: false)],
        help: ArgumentHelp("Stop as soon as this board is found.", valueName: "name"))
    var deviceName: String?

    @Option(help: ArgumentHelp("Boards whose name begins so, instead of PROV_.", valueName: "text"))
    var prefix: String?

    @Option(
        help: ArgumentHelp("Boards with this service alone; may be repeated.", valueName: "uuid"))
    var service: [String] = []

    @Option(help: ArgumentHelp("How long to listen: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(10))

    @Option(help: ArgumentHelp("Stream what is found as lines of JSON.", valueName: "form"))
    var events: Events?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if adapter != nil, transport == .serial { throw ValidationError("--adapter goes with --transport ble.") }
        if deviceName != nil, prefix != nil { throw ValidationError("Give --device-name or --prefix, not both.") }
    }

    func run() async throws {
        let context = try Context(options)
        let ports = transport == .ble || deviceName != nil ? [] : SerialPort.available().filter(\.isLikelyBoard)
        for port in ports { show(DiscoveredBoardResult(port), context.output) }
        let heard = HeardBoards()
        if transport != .serial {
            do throws(BluetoothError) {
                try await listen(heard, context)
            } catch {
                // With a board on a cable, Bluetooth is not needed.
                guard transport == .auto, !ports.isEmpty, error.isOfThisMachine else { throw CommandFailure(error) }
                context.output.warn(error.message)
            }
        }
        let boards = await heard.boards
        if let deviceName, boards.isEmpty {
            throw CommandFailure(
                .unavailable, reason: "not_found",
                message:
                    "No board \(deviceName.onOneLine) was heard: check that it is powered, near, and in provisioning mode."
            )
        }
        let found = ports.map { DiscoveredBoardResult($0) } + boards.map { DiscoveredBoardResult($0) }
        context.output.result(DiscoveryResult(boards: found))
        if found.isEmpty, !options.json {
            context.output.say("No board was found: check that one is powered, near, and in provisioning mode.")
        }
    }

    private func listen(_ heard: HeardBoards, _ context: Context) async throws(BluetoothError) {
        let central = try await BluetoothCentral.open(adapter: adapter, logger: context.logger)
        let stopsAtFirst = deviceName != nil
        try await central.discover(filter, for: timeout.duration) { board in
            show(DiscoveredBoardResult(board), context.output)
            return await heard.add(board, isEnough: stopsAtFirst)
        }
        central.close()
    }

    private var filter: BoardFilter {
        if let deviceName { return .named(deviceName) }
        if prefix != nil || !service.isEmpty { return .prefix(prefix ?? "", services: Set(service)) }
        return .anyBoard
    }

    /// Prints a board at once, unless the whole list is printed as one document in the end.
    private func show(_ board: DiscoveredBoardResult, _ output: Output) {
        if events != nil {
            output.event(FoundEvent(board: board))
        } else if !options.json {
            output.result(board)
        }
    }
}
