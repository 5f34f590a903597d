// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker
import Synchronization

/// The options of the commands that provision the boards of a batch.
struct BatchWorkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Provision at most this many boards at the same time. A serial port serves one board at a time.",
            valueName: "n"))
    var atOnce = 50

    @Option(
        help: ArgumentHelp(
            "Set the name of this machine in the ledger (default: its host name).",
            valueName: "name"))
    var station: String?

    @Option(
        help: ArgumentHelp(
            "If another machine has written nothing to the ledger for this long, take over its boards.",
            valueName: "time"))
    var stationTimeout = DurationArgument(.seconds(30))

    @OptionGroup var ledger: LedgerOptions

    @Option(help: ArgumentHelp("Give up on a board after this time.", valueName: "time"))
    var boardTimeout = DurationArgument(.seconds(120))

    @Option(
        help: ArgumentHelp(
            "Stop after this time, such as 8h. To continue, run rainctl batch resume.", valueName: "time"))
    var timeout: DurationArgument?

    @Option(help: ArgumentHelp("Print each event as a line of JSON when it happens.", valueName: "form"))
    var events: Provision.Events?

    @OptionGroup(title: "For boards whose line in the list has no such value") var defaults: BatchDefaultOptions
    @OptionGroup(title: "Account") var owner: OwnerOptions

    @Flag(help: "Do not put the boards into the account.")
    var noMapping = false

    func check(readsStandardInput: Bool) throws {
        guard 1...10_000 ~= atOnce else { throw ValidationError("--at-once must be from 1 to 10000.") }
        if let station, station.allSatisfy(\.isWhitespace) {
            throw ValidationError(
                "--station must not be empty. Without this option, the station has the machine's name.")
        }
        let readers = [readsStandardInput, defaults.wifi.passphraseStdin, defaults.popStdin].count { $0 }
        if readers > 1 { throw ValidationError("Only one option can read from standard input.") }
        if noMapping, defaults.group != nil || defaults.tags != nil || defaults.metadata != nil {
            throw ValidationError(
                "--group, --tags and --metadata are for boards in an account: omit these options, or omit --no-mapping."
            )
        }
    }

    /// Opens the ledger, lets `begin` choose the batch and its file, and provisions its boards.
    /// - Parameters:
    ///   - creates: whether the work begins a batch, so that a ledger may be created.
    ///   - address: where a page shows the work until the command is stopped; nil for a run without a page.
    func run(
        _ global: GlobalOptions, creates: Bool = false, listening address: String? = nil,
        _ begin: @escaping @Sendable (BatchStation) async throws -> (Batch, BatchFile?, Bool)
    ) async throws {
        let context = try Context(global)
        let defaults = try defaults.values(context)
        let client = try owner.client(context, noMapping: noMapping)
        var options = BatchOptions()
        options.atOnce = atOnce
        options.deadline = boardTimeout.duration
        options.lease = stationTimeout.duration
        options.mapsToUser = !noMapping
        if let station { options.station = station }
        let (chosen, hasNoWiFi) = (options, self.defaults.wifi.noWifi)
        let (result, isLate, isPiped) = try await ledger.open(client, context, creates: creates) { ledger in
            let station = BatchStation(
                client: client, ledger: ledger, options: chosen, defaults: defaults, hasNoWiFi: hasNoWiFi,
                output: context.output)
            let (batch, file, discovers) = try await begin(station)
            let progress = BatchProgress(context, global, events: events)
            let (result, isLate) =
                if let address {
                    try await station.serve(
                        batch, file, discovers: discovers, on: address, within: timeout?.duration, progress)
                } else {
                    try await station.work(
                        on: batch, file, discovers: discovers, within: timeout?.duration, progress)
                }
            return (result, isLate, file != nil && batch.file.isEmpty)
        }
        try report(result, isLate: isLate, isPiped: isPiped, context)
    }

    /// Prints how the batch is, or throws why it is not done. An error's document has the same members.
    /// - Parameter isPiped: whether the list of boards came from standard input when the batch began, so that it is needed again.
    private func report(
        _ result: BatchResult, isLate: Bool, isPiped: Bool, _ context: Context
    ) throws(CommandFailure) {
        let isDone = result.waiting + result.running == 0
        let isText = events == nil && !context.output.isJSON
        if isDone, result.failed == 0 {
            if events == nil || context.output.isJSON { context.output.result(result) }
            return
        }
        if isText { context.output.result(result) }
        // The next command has the file of --secrets, if this one has it.
        let list = isPiped && !GivenOptionNames.ofThisCommand.contains("secrets") ? " --secrets -" : ""
        var failure = CommandFailure(
            .batchPartial, reason: "batch_partial",
            message:
                "\(result.failed) of \(result.total.counting("board")) failed. "
                + "Try \(result.failed == 1 ? "it" : "them") again with: \(commandLine("batch retry \(result.batch)\(list)"))"
        )
        if !isDone {
            failure = CommandFailure(
                isLate ? .deadline : .cancelled,
                message:
                    "Stopped before all boards were done. Continue with: \(commandLine("batch resume \(result.batch)\(list)"))"
            )
        }
        failure.result = result
        throw failure
    }
}

/// What applies to boards whose line in the file says nothing else.
struct BatchDefaultOptions: ParsableArguments {
    @Option(
        help:
            "Reach the boards over a cable (serial), Bluetooth (ble), their own access points (softap) or your network (on-network)."
    )
    var transport: TransportName = .auto

    @Option(
        help: ArgumentHelp(
            "Use this serial port for all boards, one after another.", valueName: "path"),
        completion: .serialPorts)
    var port: String?

    @Option(help: ArgumentHelp("Read the proof of possession from a file.", valueName: "file"), completion: .file())
    var popFile: String?

    @Flag(help: "Read the proof of possession from standard input.")
    var popStdin = false

    @OptionGroup var wifi: WiFiOptions

    @Option(
        help: ArgumentHelp(
            "Put the boards into this group. rainctl creates the group if it does not exist.", valueName: "name"))
    var group: String?

    @Option(help: ArgumentHelp("Give the boards these tags.", valueName: "key:value,…"))
    var tags: String?

    @Option(help: ArgumentHelp("Give each board this metadata, a JSON object.", valueName: "json"))
    var metadata: String?

    func values(_ context: Context) throws -> BatchDefaults {
        let time = TimeBudget(DurationArgument(.seconds(120)))
        var values = BatchDefaults()
        values.transport = transport.scheme
        values.port = port
        values.group = group
        values.notes = try Provision.mappingNotes(tags: tags, metadata: metadata)
        values.transports = Invocation.current.transports.map(\.scheme)
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", file: popFile, fromStandardInput: popStdin, takesValue: false,
            environmentVariable: .proofOfPossession, time: time)
        values.proof = try source.read(environment: context.environment, output: context.output)
            .map { ProofOfPossession($0) }
        guard let name = try wifi.name() else { return values }
        let passphrase = wifi.passphraseSource(within: time)
        let given =
            wifi.open
            ? Secret("") : try passphrase.required(context)
        values.network = try WiFiNetwork(possible: name, passphrase: given)
        return values
    }
}

/// This machine at work on a batch.
struct BatchStation: Sendable {
    let client: RainKitClient
    let ledger: any Ledger
    let options: BatchOptions
    let defaults: BatchDefaults
    let hasNoWiFi: Bool
    let output: Output

    func say(_ line: String) { output.say(line) }

    /// A board whose line has no network would silently get none.
    func checkNetworks(of file: BatchFile) throws(CommandFailure) {
        guard !hasNoWiFi else { return }
        let without = file.entries.filter { $0.network == nil }
        guard let first = without.first else { return }
        throw CommandFailure(
            .usage, reason: "missing_ssid",
            message: (without.count == 1
                ? "Line \(first.line) has no network"
                : "\(without.count) lines have no network, such as line \(first.line)")
                + ": use --ssid NAME, the columns ssid and passphrase, or --no-wifi to keep the boards' Wi-Fi.")
    }

    func work(
        on batch: Batch, _ file: BatchFile?, discovers: Bool, within limit: Duration?, _ progress: BatchProgress
    ) async throws -> (BatchResult, isLate: Bool) {
        var options = options
        if file == nil {
            options.discovery = discovery
            options.discovery?.searches = discovers
        }
        let run = client.provision(batch: batch, in: ledger, file: file, options: options)
        let service = SystemdService()
        progress.begin(batch)
        service.notify(.ready)
        async let _ = progress.animate()
        let isLate = Atomic(false)
        try await Interruption.endingGently({
            service.notify(.stopping)
            progress.stopping()
            run.stop()
        }) {
            let timer = limit.map { limit in
                Task { @Sendable in
                    try await Task.sleep(for: limit)
                    isLate.store(true, ordering: .sequentiallyConsistent)
                    run.cancel()
                }
            }
            defer { timer?.cancel() }
            do {
                for try await event in run {
                    progress.take(event)
                    service.report(event)
                }
            } catch {
                guard isLate.load(ordering: .sequentiallyConsistent) else { throw error }
            }
        }
        progress.end()
        return (try await client.status(of: batch, in: ledger), isLate.load(ordering: .sequentiallyConsistent))
    }

    var discovery: BatchDiscovery {
        let defaults = defaults
        return BatchDiscovery(transports: defaults.transport.map { [$0] }) { found, line in
            var entry = BatchEntry(line: line, name: found.name ?? found.address.description, address: found.address)
            entry.label = found.name
            entry.proof = defaults.proof
            entry.hasGivenProof = defaults.proof != nil
            entry.network = defaults.network
            entry.notes = defaults.notes
            entry.group = defaults.group
            return entry
        }
    }
}
