// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

struct StationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "station", abstract: "Provision many boards, and watch the progress in a browser.",
        discussion: """
            Example: rainctl station boards.csv --ssid Home --passphrase-file wifi.txt

            Open the link that rainctl prints. With a file, the station continues the newest batch of this file, or begins a batch. With \
            --discover, the station provisions each board that appears. Otherwise, the station continues the batch of --batch, or the \
            newest batch. The station runs until Ctrl-C.
            """)

    @Argument(
        help: ArgumentHelp("The file that lists the boards.", valueName: "file"),
        completion: .file(extensions: ["csv", "jsonl", "tsv"]))
    var file: String?

    @Flag(help: "Provision each board that appears.")
    var discover = false

    @Flag(
        help: "Begin a new batch instead of continuing an earlier batch.")
    var again = false

    @Option(help: ArgumentHelp("Continue this batch.", valueName: "batch"))
    var batch: Int64?

    @Option(
        help: ArgumentHelp(
            "Serve the page on this address. Port 0 means any free port. With an address other than 127.0.0.1 "
                + "and ::1, other people on the network can see the page.",
            valueName: "ip:port"))
    var listen = "127.0.0.1:0"

    @OptionGroup var work: BatchWorkOptions
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if [file != nil, discover, batch != nil].count(where: { $0 }) > 1 {
            throw ValidationError("Give only one of these: a file, --discover or --batch.")
        }
        if again, file == nil, !discover { throw ValidationError("--again needs a file or --discover.") }
        if file == "-" {
            throw ValidationError(
                "The station reads the file again later, so the file cannot come from standard input: give its path.")
        }
        try work.check(readsStandardInput: false)
    }

    func run() async throws {
        let (file, discover, again, batch, listen) = (file, discover, again, batch, listen)
        try await work.run(options, creates: true, listening: listen) { station in
            if discover {
                let (client, ledger, options) = (station.client, station.ledger, station.options)
                if !again, let open = try await client.unfinishedDiscovery(in: ledger, options: options) {
                    return (open, nil, true)
                }
                return (try await client.createBatch(nil, path: "", in: ledger, options: options), nil, true)
            }
            guard let file else {
                let (batch, content) = try await BatchTargetOptions.open(batch, secrets: nil, station)
                return (batch, content, content == nil)
            }
            let source = BatchFileSource(path: file)
            let content = try await source.read(station.defaults, within: .seconds(120))
            try station.checkNetworks(of: content)
            let known = try await station.client.batches(in: station.ledger).first { $0.0.sha256 == content.sha256 }
            if let known, !again { return (known.0, content, false) }
            let batch = try await station.client.createBatch(
                content, path: source.absolutePath, in: station.ledger, again: again, options: station.options)
            return (batch, content, false)
        }
    }
}

extension BatchStation {
    /// Works on a batch, and serves its page until Ctrl-C or the time limit.
    func serve(
        _ batch: Batch, _ file: BatchFile?, discovers: Bool, on address: String, within limit: Duration?,
        _ progress: BatchProgress
    ) async throws -> (BatchResult, isLate: Bool) {
        var options = options
        if discovers { options.discovery = discovery }
        let service = SystemdService()
        let station = Station(client, batch, file, in: ledger, options: options)
        let place = try station.serve(on: address, machine: BatchOptions().station)
        output.tell("Batch \(batch.id): open \(place.link)\n")
        if place.isOpenToNetwork {
            output.warn(
                "other machines of this network can reach the page. The page is not encrypted, so others in this network could read its content.",
                reason: "open_station")
        }
        progress.begin(batch)
        service.notify(.ready)
        let isLate: Bool
        do {
            async let _ = progress.animate()
            isLate = try await Interruption.endingGently({
                service.notify(.stopping)
                progress.stopping()
                station.stop()
            }) {
                try await work(station, progress, within: limit)
            }
        } catch {
            await station.close()
            throw error
        }
        await station.close()
        progress.end()
        return (try await client.status(of: batch, in: ledger), isLate)
    }

    /// - Returns: whether the time limit ended the work.
    private func work(_ station: Station, _ progress: BatchProgress, within limit: Duration?) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await station.work({ event in
                    progress.take(event)
                    SystemdService().report(event)
                }) { error in
                    output.warn("the run has ended: \(CommandFailure(error).message)", reason: error.reason)
                }
                return false
            }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return true
                }
            }
            return try await group.next() ?? false
        }
    }
}
