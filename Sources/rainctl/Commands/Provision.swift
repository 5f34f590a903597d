// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainIO
import RainJSON
import RainKit
import RainMaker

/// Provisions a board: finds it, secures the session, associates it with the user, puts it on Wi-Fi, and waits for the cloud.
struct Provision: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "provision", abstract: "Put a board on Wi-Fi and into your account.",
        discussion: """
            Example: rainctl provision --ssid Home --passphrase-file wifi.txt

            rainctl uses a board that is connected by cable. If there is no such board, rainctl searches over Bluetooth and Wi-Fi. If \
            the board is on a cable, rainctl reads the proof of possession (the board's secret) from the board's log. If the log does not \
            show the proof, use --qrcode or --pop-file.
            """)

    enum Events: String, WordArgument { case ndjson }

    @OptionGroup var device: DeviceOptions
    @OptionGroup(title: "Wi-Fi") var wifi: WiFiOptions
    @OptionGroup(title: "Account") var owner: OwnerOptions

    @Option(
        help: ArgumentHelp(
            "Give the board this name in your account (default: the name set in its firmware, such as Light).",
            valueName: "name"))
    var name: String?

    @Flag(help: "Do not put the board into the account.")
    var noMapping = false

    @Option(help: ArgumentHelp("Give the board these tags in your account.", valueName: "key:value,…"))
    var tags: String?

    @Option(help: ArgumentHelp("Give the board this metadata, a JSON object.", valueName: "json"))
    var metadata: String?

    @Option(
        help: ArgumentHelp(
            "Send this file to the board's application before the Wi-Fi settings (- for standard input).",
            valueName: "file"), completion: .file())
    var customData: String?

    @Option(
        help: ArgumentHelp(
            "Send the file of --custom-data to this endpoint of the application (default: custom-data).",
            valueName: "name"))
    var customEndpoint: String?

    @Flag(help: "First make the board forget Wi-Fi settings that failed.")
    var resetFirst = false

    @Flag(help: "First forget unfinished mappings of earlier runs, which the cloud has not confirmed.")
    var forgetPending = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(120))

    @Option(help: ArgumentHelp("Print each event as a line of JSON when it happens.", valueName: "form"))
    var events: Events?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if customEndpoint != nil, customData == nil {
            throw ValidationError("--custom-endpoint needs --custom-data: the data for the endpoint.")
        }
        if forgetPending, noMapping {
            throw ValidationError(
                "--forget-pending changes your account, and --no-mapping uses no account: give only one of them.")
        }
        if let name {
            do { try RainKitClient.checkNodeName(name) } catch { throw ValidationError(error.message) }
        }
        let notes = [("--name", name), ("--tags", tags), ("--metadata", metadata)]
        if noMapping, let option = notes.first(where: { $0.1 != nil })?.0 {
            throw ValidationError(
                "\(option) works only with a mapping: omit \(option) or --no-mapping."
            )
        }
    }

    func run() async throws {
        let context = try device.context(options)
        let stream = EventStream(context, events, device)
        TypedInput.hideWhileWorking()
        let isConversation =
            StandardStreams.errIsTerminal && !options.quiet && !options.isJSON && events == nil
        var done: (node: OnboardedNode, client: RainKitClient, asked: Duration)?
        // At a terminal, the lines of the run and of the summary say the same.
        try await stream.ending(showsText: !(isConversation && StandardStreams.outIsTerminal)) {
            let ended = try await provision(context, stream)
            done = ended
            warn(of: ended.0, context.output)
            return ProvisionResult(ended.0)
        }
        guard let done, isConversation else { return }
        let summary = ProvisionSummary(
            node: done.node, asked: done.asked, asksForName: name == nil, client: done.client, context: context)
        ProgressReport.close(await summary.lines(), context, options)
    }

    /// Reports a name that the board could not be given, or that another board has.
    private func warn(of node: OnboardedNode, _ output: Output) {
        if let clash = node.nameClash { output.warn(clash) }
        guard let name, let problem = node.nameProblem, let id = node.nodeID else { return }
        let next = commandLine("node rename \(id.rawValue.asShellWord) \(name.asShellWord)")
        output.warn(
            "the board is in your account, but was not named: \(problem.message) To name it: \(next)",
            reason: "not_named")
    }

    private func provision(
        _ context: Context, _ stream: EventStream
    ) async throws -> (OnboardedNode, RainKitClient, Duration) {
        let time = TimeBudget(timeout)
        if [device.popStdin, wifi.passphraseStdin, device.qrcode == "-", customData == "-"].filter({ $0 }).count > 1 {
            throw CommandFailure(.usage, message: "Only one option can read from standard input.")
        }
        let notes = try mappingNotes()
        let custom = try customData.map { file throws(CommandFailure) in
            CustomData(try Payload(file: file).bytesForBoard(within: time.left), for: customEndpoint ?? "custom-data")
        }
        let questions = NetworkQuestions(screen: context.screen, first: try wifi.name())
        let (network, passphrase) = try requestedNetwork(context, questions, within: time)
        // Fails with `notSignedIn` before anything is sent to the board.
        var client = try owner.client(context, noMapping: noMapping)
        // First, so that earlier mappings can be given up even for a user whom the backend does not accept.
        if forgetPending { try await forgetLeftOvers(client, time, context) }
        var account: Onboarder.Cloud?
        if !noMapping {
            do {
                account = try await check(client, notes, within: time)
            } catch  where SignInConversation.helps(after: error, context) && owner.which.provider == nil {
                try await SignInConversation(context: context, time: time)
                    .signIn(after: error, purpose: "to put the board into your account")
                client = try owner.client(context, noMapping: false)
                account = try await check(client, notes, within: time)
            }
        }
        let (kit, cloud) = (client, account)
        let target = try await BoardTarget(device, context, kit, within: time)
        try confirmLeavingNetwork(target, context, within: time)
        return try await target.askingForProofAgain(context, within: time) { target in
            let board = try await target.locate(within: time)
            var request = OnboardingRequest(
                network: network, mapsToUser: !noMapping, notes: notes, label: target.label, resetsFirst: resetFirst,
                deadline: time.left, fetchesChallengeFirst: target.leavesNetwork && !noMapping,
                waitsForBoard: target.mayAppearLater, otherNetwork: otherNetwork(context, questions, within: time))
            request.nodeName = name
            request.timeAsked = { context.screen.timeThatDoesNotCount }
            request.customData = custom.map { [$0] } ?? []
            request.networkByName = networkByName(context, questions, client, passphrase, within: time)
            stream.writer?.name(device.deviceName ?? board.peer)
            let report = ProgressReport(
                context, options, events: stream, peer: target.foundName ?? board.peer,
                isAnotherAttempt: target.isAnotherAttempt)

            async let _ = report.animate()
            let askedBefore = context.screen.timeAsked
            let node = try await kit.provision(board, request, account: cloud) { report.take($0) }
            return (node, kit, context.screen.timeAsked - askedBefore)
        }
    }

    private func check(
        _ client: RainKitClient, _ notes: MappingNotes, within time: TimeBudget
    ) async throws -> Onboarder.Cloud {
        try await time.run { try await client.checkCanProvision(notes) }
    }

    /// Asks before this machine leaves its Wi-Fi for the board's, if somebody uses it from afar: the session may need that Wi-Fi.
    private func confirmLeavingNetwork(
        _ target: BoardTarget, _ context: Context, within time: TimeBudget
    ) throws(CommandFailure) {
        guard target.joinsBoardNetwork, context.mayAsk, context.variable("SSH_CONNECTION") != nil else { return }
        context.screen.say(
            "This machine leaves its Wi-Fi for the board's network, and returns afterwards. An SSH session over that Wi-Fi ends."
        )
        let answer = time.asking { context.screen.blocking { Terminal.ask("Continue? Type yes: ") } }
        guard answer?.lowercased() == "yes" else {
            throw CommandFailure(.cancelled, message: "Cancelled: nothing was changed.")
        }
    }

    private func forgetLeftOvers(_ client: RainKitClient, _ time: TimeBudget, _ context: Context) async throws {
        let nodes = try await time.run { try await client.forgetPendingMappings() }
        guard !nodes.isEmpty else {
            return context.output.say("note: There are no unfinished mappings of earlier runs.")
        }
        context.output.warn(
            "the mappings of \(nodes.map(\.rawValue.onOneLine).joined(separator: ", ")) were given up. The cloud is not asked about "
                + "these boards again.", reason: "pending_forgotten")
    }

    private func mappingNotes() throws(CommandFailure) -> MappingNotes {
        try Self.mappingNotes(tags: tags, metadata: metadata)
    }

    /// Returns the notes of the options `--tags` and `--metadata`.
    static func mappingNotes(tags: String?, metadata: String?) throws(CommandFailure) -> MappingNotes {
        let tags = (tags ?? "").split(separator: ",").map(String.init)
        for tag in tags {
            let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw CommandFailure(.usage, message: "\"\(tag.onOneLine)\" is not a tag: give tags as KEY:VALUE.")
            }
        }
        if let metadata { _ = try Payload.object(metadata, option: "--metadata") }
        return MappingNotes(tags: tags, metadata: metadata)
    }
}

/// The network that the board is to join, and another one after a failure.
extension Provision {
    /// Returns the network of the options, or how it is chosen. Also returns the password of the options for a network that is chosen.
    private func requestedNetwork(
        _ context: Context, _ questions: NetworkQuestions, within time: TimeBudget
    ) throws(CommandFailure) -> (OnboardingRequest.Network, passphrase: Secret?) {
        if wifi.noWifi { return (.none, nil) }
        if device.transport.isForConnectedBoards {
            guard !wifi.isGiven else {
                throw CommandFailure(
                    .usage,
                    message:
                        "With --transport \(device.transport.scheme ?? ""), the board is already on a network: omit the Wi-Fi options."
                )
            }
            return (.none, nil)
        }
        let name = try wifi.name()
        let source = wifi.passphraseSource(within: time)
        let passphrase = try source.read(environment: context.environment, output: context.output)
        if let name {
            let secret: Secret
            if wifi.open {
                secret = Secret("")
            } else if let passphrase {
                secret = passphrase
            } else {
                secret = try time.asking { () throws(CommandFailure) in try source.prompt(mayAsk: context.mayAsk) }
            }
            return (.given(try network(name, secret)), nil)
        }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_ssid",
                message: "No network was given: use --ssid NAME, or --no-wifi to keep the board's Wi-Fi.")
        }
        let choose = { @Sendable (heard: [AccessPoint]) in
            await time.askingOnScreen { await questions.choose(from: heard, passphrase: passphrase) }
        }
        return (.chosen(choose), passphrase)
    }

    /// Asks for the network of a board that cannot list any. This machine's own network is the most likely one.
    private func networkByName(
        _ context: Context, _ questions: NetworkQuestions, _ client: RainKitClient, _ passphrase: Secret?,
        within time: TimeBudget
    ) -> (@Sendable () async -> WiFiNetwork?)? {
        guard context.mayAsk else { return nil }
        return {
            let own = await client.currentNetwork()
            return await time.askingOnScreen { await questions.named(suggesting: own, passphrase: passphrase) }
        }
    }

    /// Only a user at a terminal can give other credentials; scripts run the command again.
    func otherNetwork(
        _ context: Context, _ questions: NetworkQuestions, within time: TimeBudget
    ) -> (@Sendable (BoardError) async -> WiFiNetwork?)? {
        guard context.mayAsk else { return nil }
        return { error in await time.askingOnScreen { await questions.another(after: error) } }
    }

    private func network(_ name: SSID, _ passphrase: Secret) throws(CommandFailure) -> WiFiNetwork {
        do {
            return try WiFiNetwork(possible: name, passphrase: passphrase)
        } catch {
            throw CommandFailure(error)
        }
    }
}

/// The board's future owner: a RainMaker user, or a user of another identity system with its own cloud.
struct OwnerOptions: ParsableArguments {
    @OptionGroup var which: ProviderOption

    @Option(
        help: ArgumentHelp(
            "Put the board into the cloud that this file describes (only with --provider; see docs/own-cloud.md).",
            valueName: "file"), completion: .file())
    var backend: String?

    /// - Parameter noMapping: whether the board is not put into an account.
    func client(_ context: Context, noMapping: Bool) throws -> RainKitClient {
        if noMapping, which.provider != nil || backend != nil {
            throw CommandFailure(
                .usage, message: "--no-mapping does not put the board into an account: omit --provider and --backend."
            )
        }
        if noMapping { return context.boardClient() }
        guard let name = context.providerName(which.provider) else {
            guard backend == nil else {
                throw CommandFailure(
                    .usage, message: "--backend needs --provider: without --provider, you use RainMaker's own cloud.")
            }
            return try context.client()
        }
        return try context.client(provider: ProviderSelection(name), backend: try description(of: name, context))
    }

    /// The file of the option, else of the environment, else the one beside the settings; nil without any of them.
    private func description(of provider: String, _ context: Context) throws -> NodeMappingDescription? {
        let usual = "\(context.folders.configuration)/backends/\(provider).json"
        let path = backend ?? context.variable("RAINKIT_BACKEND")
        do throws(AccountError) {
            return try NodeMappingDescription(file: path ?? usual, mayBeAbsent: path == nil)
        } catch {
            var error = error
            if backend == nil, path != nil { error.message += " (from RAINKIT_BACKEND)" }
            throw error
        }
    }
}

/// The network that a board is to join.
struct WiFiOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Put the board on the network with this name (default: you choose a network that the board finds).",
            valueName: "name"))
    var ssid: String?

    @Option(
        help: ArgumentHelp(
            "Put the board on the network with this name, given in hex digits (for names that are not text).",
            valueName: "digits"))
    var ssidHex: String?

    @Option(
        help: ArgumentHelp(
            "Use this Wi-Fi password. Other users of this machine can see it, so prefer --passphrase-file.",
            valueName: "password")
    )
    var passphrase: String?

    @Option(help: ArgumentHelp("Read the Wi-Fi password from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Flag(help: "Read the Wi-Fi password from standard input.")
    var passphraseStdin = false

    @Flag(help: "Use a network that has no password.")
    var open = false

    @Flag(help: "Do not change the board's Wi-Fi settings.")
    var noWifi = false

    /// Whether any option about a network is given.
    var isGiven: Bool {
        ssid != nil || ssidHex != nil || passphrase != nil || passphraseFile != nil || passphraseStdin || open
    }

    func validate() throws {
        if ssid != nil, ssidHex != nil { throw ValidationError("Give --ssid or --ssid-hex, but not both.") }
        let hasPassphrase = passphrase != nil || passphraseFile != nil || passphraseStdin
        if open, hasPassphrase {
            throw ValidationError("An open network has no password: omit --open or the password.")
        }
        if noWifi, isGiven {
            throw ValidationError("Give a network or --no-wifi, but not both.")
        }
    }

    /// The given name, if any.
    func name() throws(CommandFailure) -> SSID? {
        if let ssid { return SSID(ssid) }
        guard let ssidHex else { return nil }
        guard let bytes = Hex.decoded(ssidHex.utf8) else {
            throw CommandFailure(.usage, message: "--ssid-hex takes pairs of hex digits.")
        }
        return SSID(bytes)
    }

    func passphraseSource(within time: TimeBudget) -> SecretSource {
        SecretSource(
            name: "Wi-Fi password", flag: "--passphrase", value: passphrase, file: passphraseFile,
            fromStandardInput: passphraseStdin, environmentVariable: .passphrase,
            ifThereIsNone: "For a network without a password, use --open.", time: time)
    }
}

extension ProvisionResult: CommandResult {
    var text: String {
        var lines: [String] = []
        if let nodeID { lines.append("node id: \(nodeID)") }
        if let ip { lines.append("ip: \(ip.isEmpty ? "unknown" : ip)") }
        lines.append("mapping: \(mapping)")
        return lines.joined(separator: "\n")
    }
}

/// The end of the conversation: the board's name and time zone, and commands for it.
///
/// It waits only five seconds for the board's report to the cloud, and omits what is not known by then.
struct ProvisionSummary {
    let node: OnboardedNode
    /// The time in which the user was asked, which the total time does not include.
    let asked: Duration
    /// Whether the user is asked for the board's name, because no option gave it.
    let asksForName: Bool
    let client: RainKitClient
    let context: Context

    func lines() async -> [String] {
        let seconds = Self.text(of: node.elapsed - asked)
        guard node.mapping == .confirmed, let id = node.nodeID else {
            return ["Done in \(seconds).", "The board is set up, but not in an account (--no-mapping)."]
        }
        let client = client
        let known = try? await context.screen.waiting("Waiting for the board's first report to the cloud") {
            try await withTimeout(.seconds(8)) { try await client.reportedNode(id, within: .seconds(5)) }
        }
        guard let known else { return ["Done in \(seconds).", "Node \(id) is in your account."] }
        let named = await named(known)
        if let zone = try? await withTimeout(.seconds(4), { try await client.setTimeZoneIfMissing(of: known) }) {
            context.screen.write("The board's time zone is now \(zone.onOneLine).")
        }
        return Self.lines(for: named.node, seconds: seconds, byName: named.isUnique)
    }

    /// Asks for the board's name if the firmware has one and no option gave it. Boards of one firmware have the same name at first.
    ///
    /// - Returns: the node, and whether the user has given it a name that no other node has.
    private func named(_ known: Node) async -> (node: Node, isUnique: Bool) {
        guard asksForName, context.mayAsk, NodeConfiguration(known.configuration)?.nameParameter != nil,
            let now = known.displayName
        else { return (known, node.name != nil && node.nameClash == nil) }
        let client = client
        var node = known
        while true {
            let question = "Name of the board (Enter for \((node.displayName ?? now).onOneLine)): "
            guard let answer = await context.screen.ask(question), !answer.isEmpty else { return (node, false) }
            do {
                let outcome = try await withTimeout(.seconds(10)) {
                    try await client.rename(known, to: answer, waiting: .seconds(5))
                }
                let renamed = try? await withTimeout(.seconds(4)) { try await client.node(known.id) }
                guard let clash = outcome.clash else { return (renamed ?? known, renamed != nil) }
                node = renamed ?? node
                context.screen.say(
                    "Another board (\(clash.other.rawValue.onOneLine)) is also called \(clash.name.onOneLine). Type another name, or press Enter to keep this name."
                )
            } catch {
                context.screen.say(CommandFailure(error).message)
            }
        }
    }

    /// The time with as many digits as matter to people.
    private static func text(of time: Duration) -> String {
        let tenths = max(0, Int(time / .milliseconds(100)))
        return tenths < 1000 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 10) s"
    }

    /// - Parameters:
    ///   - byName: whether the user has just named the board, so that the commands can use the name.
    ///   - columns: the terminal's width. Explanations that do not fit on a line are omitted.
    static func lines(
        for node: Node, seconds: String, byName: Bool = false, columns: Int = TerminalSize.current.columns
    ) -> [String] {
        let name = node.displayName.map { "\($0) (node \(node.id))" } ?? "Node \(node.id)"
        let id = (byName ? node.displayName : nil).map(\.asShellWord) ?? node.id.rawValue.asShellWord
        var next = [[commandLine("node show \(id)"), "shows the board and its values"]]
        let parts = NodeConfiguration(node.configuration)
        let switchable = (parts?.components ?? []).filter { !$0.isService }.lazy.compactMap { part in
            part.parameters.first { $0.dataType == "bool" && $0.isWritable }.map { "\(part.name).\($0.name)" }
        }.first
        if parts?.components.contains(where: { $0.powerParameter != nil }) == true {
            next.append([commandLine("on \(id)"), "switches it on"])
        } else if let switchable, switchable.isPlainWord {
            next.append([commandLine("node params set \(id) \(switchable)=true"), "switches it"])
        }
        if !byName, parts?.nameParameter != nil {
            next.append([commandLine("node rename \(id) NAME"), "renames it"])
        }
        let width = next.map { $0[0].count }.max() ?? 0
        let hasRoom = next.allSatisfy { width + $0[1].count + 6 <= columns }
        return ["Done in \(seconds).", "\(name) is in your account. Next:".onOneLine]
            + next.map { line in
                let gap = String(repeating: " ", count: width - line[0].count)
                return hasRoom ? "  \(line[0])\(gap)  # \(line[1])" : "  \(line[0])"
            }
    }
}

extension String {
    /// Whether a shell takes the text unchanged.
    fileprivate var isPlainWord: Bool {
        utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                || "._-".utf8.contains($0)
        }
    }
}
