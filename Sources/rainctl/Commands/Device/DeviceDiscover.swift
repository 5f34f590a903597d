// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Shows boards as they are found.
struct DeviceDiscover: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "discover", abstract: "Find boards that are waiting to be provisioned.",
        discussion: "Example: rainctl device discover --transport ble")

    enum Events: String, WordArgument { case ndjson }

    @Option(help: "Search over this transport. auto searches over all available transports except on-network.")
    var transport: DiscoveryTransportName = .auto

    @Option(
        help: ArgumentHelp(
            "Use the Bluetooth adapter with this name, such as hci0, or with this address (repeatable; default: all adapters).",
            valueName: "adapter"))
    var adapter: [String] = []

    @Option(
        name: [.customLong("device-name"), .customLong("device_name", withSingleDash: false)],
        help: ArgumentHelp("Stop as soon as this board is found.", valueName: "name"))
    var deviceName: String?

    @Option(help: ArgumentHelp("Find boards whose names begin with this text (default: PROV_).", valueName: "text"))
    var prefix: String?

    @Option(
        help: ArgumentHelp("Find only boards with this Bluetooth service UUID (repeatable).", valueName: "uuid"))
    var service: [String] = []

    @Option(help: ArgumentHelp("Search for this time, such as 500ms, 6s or 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(10))

    @Flag(help: "Stop as soon as a board is found. If no board is found in time, fail.")
    var first = false

    @Option(help: ArgumentHelp("Print each board as a line of JSON when it is found.", valueName: "form"))
    var events: Events?

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if !adapter.isEmpty, let scheme = transport.scheme {
            let owners = Transports.having(option: "adapter").map(\.scheme)
            guard owners.contains(scheme) else {
                throw ValidationError("--adapter needs --transport \(owners.joined(separator: " or ")).")
            }
        }
        if let odd = service.first(where: { !Self.isUUID($0) }) {
            throw ValidationError(
                "--service must be a UUID such as 1775244d-6b43-439b-877c-060f2d9bed07, but \"\(odd.onOneLine)\" is not one."
            )
        }
        if deviceName != nil, prefix != nil { throw ValidationError("Give --device-name or --prefix, but not both.") }
    }

    /// Whether the text has the form of boards' services: 128 bits, in groups of 8, 4, 4, 4 and 12 hexadecimal digits.
    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    func run() async throws {
        let context = try Context(options, list: format)
        var search = BoardSearch(
            for: timeout.duration, name: deviceName, prefix: prefix, services: Set(service),
            parameters: adapter.isEmpty ? [:] : ["adapter": adapter.joined(separator: ",")], logger: context.logger)
        // The board may be plugged in later.
        search.watches = first
        var boards: [FoundBoard] = []
        let client = context.boardClient()
        if events != nil {
            context.output.warnings.listen { context.output.event(TimedDocument(WarningEvent($0))) }
        }
        let (began, others) = (ContinuousClock.now, othersInRange(client, search))
        defer { others?.cancel() }
        // If a board is on a cable, Bluetooth is not needed.
        for try await board in client.boards(
            search, over: transport.scheme.map { [$0] },
            unavailable: { context.output.warn($0.message, reason: $0.reason ?? "\($0.code)".snakeCased) })
        {
            show(DiscoveredBoardResult(board, over: Transports.registered), context.output)
            boards.append(board)
            if first { break }
        }
        // Some transports need no time to find their boards.
        let isEarly = ContinuousClock.now - began < search.time / 2
        if !boards.isEmpty || isEarly || Task.isCancelled { others?.cancel() }
        let names = await others?.value ?? []
        await client.close()
        try Task.checkCancellation()
        let advice = Self.advice(name: deviceName, prefix: prefix, services: service, inRange: names)
        if deviceName != nil, boards.isEmpty {
            throw CommandFailure(.unavailable, reason: "not_found", message: advice)
        }
        if first, boards.isEmpty { throw CommandFailure(.unavailable, reason: "not_found", message: advice) }
        let found = boards.map { DiscoveredBoardResult($0, over: Transports.registered) }
        context.output.result(DiscoveryResult(boards: found))
        if found.isEmpty, !options.isJSON { context.output.say(advice) }
    }

    /// Searches for the boards that the filters exclude, in the last seconds of the search. Returns nil without filters.
    private func othersInRange(_ client: RainKitClient, _ search: BoardSearch) -> Task<[String], Never>? {
        guard deviceName != nil || prefix != nil || !service.isEmpty else { return nil }
        var wide = search
        (wide.name, wide.prefix, wide.services, wide.watches) = (nil, nil, [], false)
        wide.time = min(search.time / 2, .seconds(2))
        let pause = search.time - wide.time
        let schemes: Set<String>? = transport.scheme.map { [$0] }
        return Task { [wide] in
            var names: Set<String> = []
            do {
                try await Task.sleep(for: pause)
                for try await board in client.boards(wide, over: schemes) {
                    // A port has no name of its board.
                    if let name = board.name { names.insert(name.onOneLine) }
                }
            } catch {
                // The search itself reports it.
            }
            return names.sorted()
        }
    }

    /// The message for a search without a result: what was searched for, and which other boards are in range.
    static func advice(name: String?, prefix: String?, services: [String], inRange others: [String]) -> String {
        var (wanted, options) = ("No board", [String]())
        if let name {
            wanted += " \(name.onOneLine)"
            options.append("--device-name")
        }
        if let prefix {
            wanted += " whose name begins with \"\(prefix.onOneLine)\" (--prefix)"
            options.append("--prefix")
        }
        if !services.isEmpty {
            let list = services.map(\.onOneLine).joined(separator: " or ")
            wanted += "\(prefix == nil ? "" : " and") with the service \(list) (--service)"
            options.append("--service")
        }
        guard others.isEmpty else {
            return
                "\(wanted) was found, but other boards are in range: \(others.prefix(3).joined(separator: ", ")). Check "
                + "\(options.joined(separator: " and ")), or search without \(options.count == 1 ? "it" : "them")."
        }
        let board = name == nil ? "a board" : "it"
        return "\(wanted) was found: check that \(board) has power, is near, and is in provisioning mode."
    }

    /// Prints a board at once, unless the whole list is printed at the end as one document.
    private func show(_ board: DiscoveredBoardResult, _ output: Output) {
        if events != nil {
            output.event(TimedDocument(FoundEvent(board)))
        } else if output.form == .text {
            output.result(board)
        }
    }
}

/// In text mode each board has been printed when it was found, so only JSON has the list.
extension DiscoveryResult: CommandResult {
    var text: String { "" }
}

extension DiscoveryResult: ListResult {
    var table: ListTable {
        ListTable(
            member: "boards",
            columns: ["transport", "port", "address", "name", "rssi", "connected", "node_id", "services"])
    }
}

extension DiscoveredBoardResult: CommandResult {
    var text: String {
        if let port { return port }
        if let nodeID { return "\(name?.onOneLine ?? "(no name)")  \(address ?? "")  node \(nodeID.onOneLine)" }
        let strength = rssi.map { "\($0) dBm" } ?? "connected"
        return "\(name?.onOneLine ?? "(no name)")  \(address ?? "")  \(strength)"
    }
}
