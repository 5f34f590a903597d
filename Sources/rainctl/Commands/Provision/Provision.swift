// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainCore

/// The main job: find the board, secure the session, tie it to the account, put it on Wi-Fi, wait for the cloud.
struct Provision: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provision", abstract: "Put a board on Wi-Fi and into your account.",
        discussion: """
            Example: rainctl provision --ssid Home --passphrase-file wifi.txt

            It takes the board on a cable, or looks for one over Bluetooth and Wi-Fi. Where no cable's log tells the proof of possession, \
            --qrcode or --pop-file does.
            """)

    enum Events: String, ExpressibleByArgument, CaseIterable { case ndjson }

    @OptionGroup var device: DeviceOptions
    @OptionGroup(title: "Wi-Fi") var wifi: WiFiOptions
    @OptionGroup(title: "Account") var owner: OwnerOptions

    @Flag(help: "Do not put the board into the account.")
    var noMapping = false

    @Option(help: ArgumentHelp("Tags for the node.", valueName: "key:value,…"))
    var tags: String?

    @Option(help: ArgumentHelp("Metadata for the node, one JSON object.", valueName: "json"))
    var metadata: String?

    @Option(
        help: ArgumentHelp(
            "Send the board's own application what this file holds (- is standard input), before it gets its network.",
            valueName: "file"), completion: .file())
    var customData: String?

    @Option(
        help: ArgumentHelp(
            "The endpoint of the application (--custom-data); custom-data unless given.", valueName: "name"))
    var customEndpoint: String?

    @Flag(help: "Make the board forget failed Wi-Fi settings first.")
    var resetFirst = false

    @Flag(help: "Give up what earlier runs left unconfirmed; the cloud is not asked about it again.")
    var forgetPending = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(120))

    @Option(help: ArgumentHelp("Stream events as lines of JSON.", valueName: "form"))
    var events: Events?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if customEndpoint != nil, customData == nil {
            throw ValidationError("--custom-endpoint needs --custom-data, what is to be sent there.")
        }
        if forgetPending, noMapping {
            throw ValidationError(
                "--forget-pending is about your account, and --no-mapping uses none: give one of them.")
        }
        if noMapping, tags != nil || metadata != nil {
            throw ValidationError(
                "\(tags == nil ? "--metadata" : "--tags") goes with a mapping, and --no-mapping makes none: give one of them."
            )
        }
    }

    func run() async throws {
        let context = try device.context(options)
        let stream = EventStream(context, events, device)
        var done: (node: OnboardedNode, client: RainKitClient)?
        try await stream.ending {
            let ended = try await provision(context, stream)
            done = ended
            return ProvisionResult(ended.0)
        }
        guard let done, StandardStreams.errIsTerminal, !options.quiet, !options.json, events == nil else { return }
        ProgressReport.close(await ClosingWords.lines(for: done.node, done.client), context, options)
    }

    private func provision(
        _ context: Context, _ stream: EventStream
    ) async throws -> (OnboardedNode, RainKitClient) {
        let time = TimeBudget(timeout)
        if [device.popStdin, wifi.passphraseStdin, device.qrcode == "-", customData == "-"].filter({ $0 }).count > 1 {
            throw CommandFailure(.usage, message: "Only one thing can be read from standard input.")
        }
        let notes = try mappingNotes()
        let custom = try customData.map { file throws(CommandFailure) in
            CustomData(try Payload(file: file).bytesForBoard(within: time.left), for: customEndpoint ?? "custom-data")
        }
        let questions = NetworkQuestions(screen: context.screen, first: try wifi.name())
        let network = try requestedNetwork(context, questions, within: time)
        // Fails with `notSignedIn` before a byte goes to the board.
        let client = try owner.client(context, noMapping: noMapping)
        // First of all, so that what was left can be given up in the name of a user whom the backend does not take.
        if forgetPending { try await forgetLeftOvers(client, time, context) }
        if !noMapping { try await time.run { try await client.checkCanProvision(notes) } }
        let target = try await BoardTarget(device, context, client, within: time)
        return try await target.askingForProofAgain(context, within: time) { target in
            let board = try await target.open(within: time)
            var request = OnboardingRequest(
                network: network, mapsToUser: !noMapping, notes: notes, label: target.label, resetsFirst: resetFirst,
                deadline: time.left, fetchesChallengeFirst: target.leavesNetwork && !noMapping,
                waitsForBoard: target.mayAppearLater, otherNetwork: otherNetwork(context, questions, within: time))
            request.customData = custom.map { [$0] } ?? []
            stream.name(device.deviceName ?? board.peer)
            let report = ProgressReport(context, options, events: stream, peer: board.peer)

            async let _ = report.animate()
            return (try await client.provision(board, request) { report.take($0) }, client)
        }
    }

    private func forgetLeftOvers(_ client: RainKitClient, _ time: TimeBudget, _ context: Context) async throws {
        let nodes = try await time.run { try await client.forgetPendingMappings() }
        guard !nodes.isEmpty else { return context.output.say("note: No earlier run has left anything to give up.") }
        context.output.warn(
            "the mappings of \(nodes.map(\.rawValue.onOneLine).joined(separator: ", ")) were given up: the cloud is not asked about "
                + "them again.", reason: "pending_forgotten")
    }

    private func mappingNotes() throws(CommandFailure) -> MappingNotes {
        let tags = (tags ?? "").split(separator: ",").map(String.init)
        for tag in tags {
            let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw CommandFailure(.usage, message: "\(tag.onOneLine) is not a tag: they are given as KEY:VALUE.")
            }
        }
        if let metadata {
            do {
                guard case .object = try JSONValue(parsing: Array(metadata.utf8)) else {
                    throw CommandFailure(.usage, message: "--metadata takes one JSON object.")
                }
            } catch {
                throw CommandFailure(.usage, message: "--metadata takes one JSON object.")
            }
        }
        return MappingNotes(tags: tags, metadata: metadata)
    }
}
