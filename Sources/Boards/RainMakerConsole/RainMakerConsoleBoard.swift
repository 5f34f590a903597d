// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO

/// A ``Board`` over the console that RainMaker's stock examples serve on their UART: `get-node-id`, `add-user`, `wifi-prov`.
///
/// There is no encryption and no proof of possession: the cable alone gives control over the board. The board echoes and logs the
/// mapping secret and the passphrase, so nothing that it prints is ever logged or put into an error; only what
/// `BoardEvent` can say is taken from it. How the attempt to join ends is read from the board's log.
public actor RainMakerConsoleBoard: Board {
    /// A command takes milliseconds; a board that boots, two or three seconds.
    public static let commandDeadline = Duration.seconds(5)

    public nonisolated let peer: String
    private let console: CommandConsole
    private let clock: any Clock<Duration>
    let time: Timekeeper
    let logger: Logger
    private var nodeID: NodeID?
    private var hasAnswered = false
    private var network: WiFiNetwork?
    /// The `add-user` line that the board has taken, and how often it had restarted by then: it keeps the user in memory only.
    private var association: (line: [UInt8], restarts: Int)?
    /// What the board says of an attempt that an earlier run began, while it takes no other network.
    var earlier = EarlierAttempt()
    /// Where the board was found when it was to be told.
    private var arrival: JoinedNetwork?
    /// What the board has said of the attempt so far.
    private var events: [BoardEvent] = []
    private var hasFailedToJoin = false
    /// Reads on where the verdict on the network came.
    private var reader: EventReader?
    /// What the log said of the cloud while the board was followed onto its network.
    private var contact: CloudContact?

    /// - Parameters:
    ///   - console: belongs to the board from now on, and is closed with it.
    ///   - nodeID: the board's id, if probing has found it already.
    public init(
        console: CommandConsole, nodeID: NodeID? = nil, clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        peer = console.port.path
        self.console = console
        self.nodeID = nodeID
        hasAnswered = nodeID != nil
        self.clock = clock
        time = Timekeeper(clock)
        self.logger = logger
    }

    public func identify() async throws(ProvisioningError) -> BoardIdentity {
        let nodeID = try await knownNodeID()
        // Only who has been claimed has another name than the MAC address; self-claimed boards keep that one, too.
        return BoardIdentity(
            association: .userMapping, needsClaim: nodeID.isMACAddress ? nil : false, nodeID: nodeID,
            version: "rainmaker-console", capabilities: ["console.user_mapping", "console.wifi_prov"])
    }

    public func secure() async throws(ProvisioningError) {}

    public func scan() async throws(ProvisioningError) -> [AccessPoint] {
        throw ProvisioningError(
            .unsupported, message: "The board's console cannot list networks; name the one to join.",
            remedies: [.networkName])
    }

    public func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        guard case .userMapping(let user, let secret) = request else {
            throw ProvisioningError(
                .unsupported,
                message: "The board's console knows no challenge; it can be associated by user mapping only.")
        }
        let nodeID = try await knownNodeID()
        try await tellUser(
            try line("add-user", [Array(user.rawValue.utf8), secret.secret.revealBytes()], what: "user id"))
        return AssociationReply(nodeID: nodeID)
    }

    private func tellUser(_ line: [UInt8]) async throws(ProvisioningError) {
        // Its one line may get lost on the way, and the same command only begins the same mapping anew.
        var attempts = 3
        while attempts > 0 {
            let events = try await run(line, "add-user")
            if let error = failure(events, "add-user") { throw error }
            if events.contains(.mappingStarted) { break }
            attempts -= 1
        }
        guard attempts > 0 else {
            throw ProvisioningError(
                .notRainMaker,
                message: "The board's firmware does not know the command add-user. Is it a RainMaker example?")
        }
        association = (line, await console.restarts)
    }

    /// A board that has restarted since, say while a person was asked for another network, has forgotten its user.
    private func tellUserAgainAfterRestart() async throws(ProvisioningError) {
        try await within("an empty line") { console async throws(SerialPortError) in try await console.makeReady() }
        guard let association, await console.restarts != association.restarts else { return }
        logger.debug("the board restarted; telling its user again", metadata: ["peer": "\(peer)"])
        try await tellUser(association.line)
    }

    public func join(_ network: WiFiNetwork) async throws(ProvisioningError) { try await join(network) { _ in } }

    /// A board that is still at what an earlier run gave it refuses (`alreadyGiven`), where its firmware does not leave that for the new
    /// network at once: what comes of it is waited for.
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) {
        var words = [network.ssid.bytes]
        if !network.passphrase.isEmpty { words.append(network.passphrase.revealBytes()) }
        let line = try line("wifi-prov", words, what: "network name or passphrase")
        arrival = nil
        earlier = EarlierAttempt(hasFailed: hasFailedToJoin, since: time.elapsed())
        var events = try await type(line)
        while events.contains(.settingsRefused(.alreadyGiven)) {
            // What came beside the refusal.
            reader = EventReader(events.filter { $0 != .settingsRefused(.alreadyGiven) })
            arrival = try await waitForEarlierAttempt(network, report: report)
            guard arrival == nil else { return }
            events = try await type(line)
        }
        for case .settingsRefused(let refusal) in events {
            // Provisioning ends by itself where it has succeeded: the earlier attempt has.
            throw earlier.isTold ? leftToCloud() : refused(refusal)
        }
        self.network = network
        self.events = events
        hasFailedToJoin = false
    }

    /// Hands the board its network; `mayBeJoining` where it cannot be told whether it took it.
    private func type(_ line: [UInt8]) async throws(ProvisioningError) -> [BoardEvent] {
        try await tellUserAgainAfterRestart()
        let events: [BoardEvent]
        do {
            events = try await run(line, "wifi-prov")
        } catch {
            throw error.code == .deviceLost ? .mayBeJoining(peer, error) : error
        }
        if let error = failure(events, "wifi-prov") {
            throw events.contains(.restarted) ? .mayBeJoining(peer, error) : error
        }
        if let association, await console.restarts != association.restarts {
            throw .mayBeJoining(peer, restarted(in: "wifi-prov"))
        }
        return events
    }

    /// The next thing that the board says of itself, of what it has said already and what is still to come.
    func nextEvent() async throws(ProvisioningError) -> BoardEvent {
        var reader = reader ?? EventReader([])
        defer { self.reader = reader }
        return try await next(&reader)
    }

    public func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        if let arrival { return arrival }
        guard let network else {
            throw ProvisioningError(.invalidArgument, message: "No network was given to the board yet.")
        }
        do {
            return JoinedNetwork(address: try await address(on: network, report: report), ssid: network.ssid)
        } catch {
            hasFailedToJoin = [.wifiAuthenticationFailed, .wifiNetworkNotFound, .wifiFailed].contains(error.code)
            throw error
        }
    }

    private func address(
        on network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> String {
        await report(.connecting)
        var verdict = JoinVerdict()
        var reader = EventReader(events)
        events = []
        contact = nil
        defer { self.reader = reader }
        while true {
            let event = try await next(&reader)
            if let contact = event.contact { self.contact = contact }
            switch verdict.take(event) {
            case nil: continue
            case .retrying: await report(.connecting)
            case .joined(let address): return address
            case .authenticationFailed:
                throw ProvisioningError(
                    .wifiAuthenticationFailed,
                    message: "The network \"\(network.ssid)\" refused the board. Check the passphrase."
                ).remarking(on: network)
            case .networkNotFound:
                throw ProvisioningError.notHeard(network.ssid).remarking(on: network)
            case .failed(let reason):
                throw ProvisioningError(
                    .wifiFailed,
                    message:
                        "The board gave up on the network \"\(network.ssid)\": reason \(reason) of ESP-IDF's wifi_err_reason_t."
                )
            case .refused(let refusal): throw refused(refusal)
            case .restarted:
                throw ProvisioningError(
                    .deviceLost,
                    message: "The board restarted while it was joining. Check its power supply, then run this again.")
            }
        }
    }

    public func cloudContact() async throws(ProvisioningError) -> CloudContact? {
        guard var reader else { return nil }
        defer { self.reader = reader }
        while contact == nil { contact = try await next(&reader).contact }
        defer { contact = nil }
        return contact
    }

    /// The console has no such command. After a failed attempt RainMaker's examples forget the settings by themselves
    /// (`CONFIG_APP_NETWORK_RESET_PROV_ON_FAILURE`), and `join` says so if this board does not.
    public func reset() async throws(ProvisioningError) {
        guard !hasFailedToJoin else { return }
        throw ProvisioningError(
            .unsupported,
            message:
                "The board's console cannot forget Wi-Fi settings alone. Type `reset-to-factory` there to forget everything."
        )
    }

    public func close() async { await console.close() }
}

// MARK: - Commands

extension RainMakerConsoleBoard {
    private func knownNodeID() async throws(ProvisioningError) -> NodeID {
        if let nodeID { return nodeID }
        let events = try await run(Array("get-node-id".utf8), "get-node-id")
        for case .nodeID(let id) in events {
            nodeID = id
            return id
        }
        if let error = failure(events, "get-node-id") { throw error }
        throw ProvisioningError(
            .notRainMaker, message: "The board's console does not know get-node-id, so its firmware is not RainMaker's."
        )
    }

    private func line(_ command: String, _ arguments: [[UInt8]], what: String) throws(ProvisioningError) -> [UInt8] {
        var words = [ConsoleWord(command)]
        for argument in arguments { words.append(ConsoleWord(argument)) }
        let typed = words.compactMap(\.self)
        guard typed.count == words.count else {
            throw ProvisioningError(
                .invalidArgument,
                message:
                    "The \(what) holds a control character, which cannot be typed on the board's console. Use HTTP or BLE."
            )
        }
        guard let line = ConsoleLine.make(typed) else {
            throw ProvisioningError(
                .invalidArgument,
                message:
                    "The \(what) makes the line longer than the \(ConsoleLine.maximumLength) characters that the board's "
                    + "console takes.")
        }
        return line
    }

    private func run(_ line: [UInt8], _ name: String) async throws(ProvisioningError) -> [BoardEvent] {
        let events = try await within(name) { console async throws(SerialPortError) in
            try await console.run(CommandReply(command: line))
        }
        logger.debug("console command", metadata: ["peer": "\(peer)", "command": "\(name)"])
        return events
    }

    /// - Parameter what: what the board is to answer.
    private func within<Answer: Sendable>(
        _ what: String, _ body: @escaping @Sendable (CommandConsole) async throws(SerialPortError) -> Answer
    ) async throws(ProvisioningError) -> Answer {
        let (console, clock) = (console, clock)
        let result = await withDeadline(Self.commandDeadline, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in try await body(console)
        }
        switch result {
        case .success(let answer)?:
            hasAnswered = true
            return answer
        case .failure(let error)?: throw ProvisioningError(error, hasAnswered: hasAnswered)
        case nil:
            throw ProvisioningError(
                hasAnswered ? .deviceLost : .neverAnswered,
                message: "The board's console at \(peer) did not answer \(what) within \(Self.commandDeadline). "
                    + "Boards with native USB only print there: use the UART connector.")
        }
    }

    /// What went wrong with a command, if something did.
    private func failure(_ events: [BoardEvent], _ name: String) -> ProvisioningError? {
        for event in events {
            switch event {
            case .commandFailed(let code):
                return ProvisioningError(
                    .rejected,
                    message: "The board's command \(name) failed with error \(code). Has the board been claimed?")
            case .invalidUsage:
                return ProvisioningError(.rejected, message: "The board did not understand the arguments of \(name).")
            case .lineDiscarded:
                return ProvisioningError(
                    .deviceLost, message: "The board lost a part of the line while it was typed. Run this again.")
            case .restarted: return restarted(in: name)
            default: continue
            }
        }
        return nil
    }

    private func restarted(in name: String) -> ProvisioningError {
        ProvisioningError(
            .deviceLost, message: "The board restarted in the middle of \(name). Check its power supply.")
    }

    func refused(_ refusal: BoardEvent.Refusal) -> ProvisioningError {
        switch refusal {
        case .alreadyGiven:
            ProvisioningError(
                .rejected,
                message: "The board is still trying, or has failed with, other Wi-Fi settings. Restart it, or type "
                    + "`reset-to-factory` on its console.")
        case .notReady:
            ProvisioningError(
                .rejected,
                message:
                    "The board does not take Wi-Fi settings now: its provisioning has stopped. Restart it and try again."
            )
        }
    }

    private func next(_ reader: inout EventReader) async throws(ProvisioningError) -> BoardEvent {
        if let event = reader.pending() { return event }
        var copy = reader
        let event: BoardEvent
        do {
            event = try await console.readPieces { copy.append($0) }
        } catch {
            throw ProvisioningError(error, hasAnswered: hasAnswered)
        }
        reader = copy
        return event
    }
}

extension BoardEvent {
    fileprivate var contact: CloudContact? {
        switch self {
        case .connectingToCloud(let host): .connecting(to: host)
        case .unclaimed: .unclaimed
        default: nil
        }
    }
}

extension NodeID {
    /// Twelve upper-case hex digits, as a board calls itself that was never claimed, or has claimed itself.
    fileprivate var isMACAddress: Bool {
        let digits = rawValue.utf8
        return digits.count == 12
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    }
}

/// A board that an earlier run has sent to a network, and that takes no other as long as it tries: early RainMaker firmware, whose `wifi-prov`
/// knows the provisioning service alone. Later firmware leaves the other attempt at once.
extension RainMakerConsoleBoard {
    /// Waits until the board may take its network.
    ///
    /// - Returns: where the board is, if the earlier attempt brought it to the network that is asked for.
    func waitForEarlierAttempt(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork? {
        guard earlier.isWorthWaiting(at: time.elapsed()) else {
            // A board that has been on a network for long says nothing of it, and the cloud may know.
            throw earlier.hasFailed ? refused(.alreadyGiven) : leftToCloud()
        }
        if !earlier.isTold {
            logger.debug("the board is at what it was given before", metadata: ["peer": "\(peer)"])
            await report(.occupied)
        }
        earlier.isTold = true
        // Its log may be off, so it is asked again, too. The application resets it a moment after the failure is told.
        let pause = earlier.nextPause()
        let result = await withDeadline(pause, sleep: time.sleep) { () async throws(ProvisioningError) in
            try await self.outcomeOfEarlierAttempt()
        }
        guard case .arrived(let place)? = try result?.get() else { return nil }
        try place.verify(isOn: network)
        return place
    }

    /// A board that is on a network by then, most likely, and in the account once it has reported what it was told.
    func leftToCloud() -> ProvisioningError {
        ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) took no Wi-Fi settings: it is at, or on, a network that it was given before. Look for it in your "
                + "account, or type `reset-to-factory` on its console and run this again.")
    }

    private func outcomeOfEarlierAttempt() async throws(ProvisioningError) -> EarlierAttempt.Outcome {
        while true {
            let event = try await nextEvent()
            if let outcome = earlier.take(event, at: time.elapsed()) { return outcome }
        }
    }
}

/// What a board's log tells of an attempt that an earlier run began, and when it is not waited for any longer. A value, so that the policy
/// can be read and tested by itself.
struct EarlierAttempt: Sendable {
    /// A board whose log says nothing of it for so long is not trying.
    static let patience = Duration.seconds(40)
    /// After a failure the application resets its board at once, or tries again, or not at all.
    static let patienceAfterFailure = Duration.seconds(6)

    /// It came to nothing at least once.
    private(set) var hasFailed = false
    /// When the board last said something of it.
    private var lastSign = Duration.zero
    private var ssid: [UInt8] = []
    /// Somebody has been told that it is waited for.
    var isTold = false
    private var schedule = Self.schedule

    private static var schedule: PollSchedule { PollSchedule(from: .milliseconds(100), to: .seconds(2)) }

    init(hasFailed: Bool = false, since now: Duration = .zero) {
        self.hasFailed = hasFailed
        lastSign = now
    }

    enum Outcome: Sendable, Equatable {
        case arrived(JoinedNetwork)
        case failed
    }

    mutating func take(_ event: BoardEvent, at now: Duration) -> Outcome? {
        switch event {
        case .associated(let ssid):
            self.ssid = ssid
            lastSign = now
            return nil
        case .gotAddress(let address): return .arrived(JoinedNetwork(address: address, ssid: SSID(ssid)))
        case .authenticationFailed, .networkNotFound, .provisioningFailed, .restarted:
            hasFailed = true
            lastSign = now
            schedule = Self.schedule
            return .failed
        case .disconnected, .retrying:
            lastSign = now
            return nil
        case .nodeID, .mappingStarted, .invalidUsage, .commandFailed, .lineDiscarded, .settingsRefused,
            .connectingToCloud, .unclaimed:
            return nil
        }
    }

    /// How long to listen before the board is asked again. Something new ends it.
    mutating func nextPause() -> Duration { max(schedule.next(), .milliseconds(100)) }

    /// Whether the board is to be asked again.
    func isWorthWaiting(at now: Duration) -> Bool {
        now - lastSign < (hasFailed ? Self.patienceAfterFailure : Self.patience)
    }
}

/// Decides from the board's events how its attempt to join a network ends.
///
/// A lost connection for an "other" reason is not an end: firmware that counts its attempts says so at the last one, and
/// firmware that does not tries for ever. The application's own word may repeat the reason of an earlier failure
/// (`network_prov_mgr` keeps it), so the manager's number counts for more.
struct JoinVerdict: Sendable {
    enum Outcome: Sendable, Equatable {
        case joined(address: String)
        case authenticationFailed
        case networkNotFound
        /// For another reason of `wifi_err_reason_t`.
        case failed(reason: Int32)
        case restarted
        /// Settings that were given after all are refused by the manager.
        case refused(BoardEvent.Refusal)
        case retrying
    }

    private var lastReason: Int32?

    mutating func take(_ event: BoardEvent) -> Outcome? {
        switch event {
        case .gotAddress(let address): return .joined(address: address)
        case .authenticationFailed: return .authenticationFailed
        case .networkNotFound: return .networkNotFound
        case .disconnected(let reason):
            lastReason = reason
            return .retrying
        case .provisioningFailed(let reason):
            if let lastReason, !Self.explained.contains(lastReason) { return .failed(reason: lastReason) }
            return reason == .authentication ? .authenticationFailed : .networkNotFound
        case .settingsRefused(let refusal): return .refused(refusal)
        case .retrying: return .retrying
        case .restarted: return .restarted
        case .associated, .connectingToCloud, .unclaimed, .nodeID, .mappingStarted, .invalidUsage, .commandFailed,
            .lineDiscarded:
            return nil
        }
    }

    /// The reasons that the manager turns into a verdict: 4-way timeout, MIC failure, authentication, handshake, no AP.
    private static let explained: Set<Int32> = [14, 15, 201, 202, 204]
}

/// One argument of a console line, written so that the board reads the same bytes back.
///
/// The board's rules (`esp_console_split_argv` of ESP-IDF): spaces separate; double quotes keep spaces; a backslash takes a
/// backslash, a double quote or a space literally. Tabs and everything else are ordinary bytes.
struct ConsoleWord: Sendable, Equatable {
    /// As it is typed.
    let typed: [UInt8]

    /// Nil for what no line can carry: the bytes that end a line (CR, and LF on newer firmware), edit it (backspace), or end
    /// the board's strings (NUL).
    init?(_ bytes: [UInt8]) {
        guard !bytes.contains(where: { $0 == 0x00 || $0 == 0x08 || $0 == 0x0A || $0 == 0x0D }) else { return nil }
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        guard bytes.isEmpty || bytes.contains(where: { $0 == UInt8(ascii: " ") || $0 == quote || $0 == backslash })
        else {
            typed = bytes
            return
        }
        var typed = [quote]
        for byte in bytes {
            if byte == quote || byte == backslash { typed.append(backslash) }
            typed.append(byte)
        }
        self.typed = typed + [quote]
    }

    init?(_ text: String) { self.init(Array(text.utf8)) }
}

/// A whole line for the console.
enum ConsoleLine {
    /// The board's buffer holds 256 bytes with the terminating zero; older firmware counts the CR among the other 255
    /// (`scli_task` in `rmaker_console.c`).
    static let maximumLength = 254

    /// The words with spaces between them; nil if the board would cut the line.
    static func make(_ words: [ConsoleWord]) -> [UInt8]? {
        let line = Array(words.map(\.typed).joined(separator: [UInt8(ascii: " ")]))
        return line.count <= maximumLength ? line : nil
    }
}

extension ProvisioningError {
    /// What a fault of the port means for the board behind it.
    init(_ error: SerialPortError, hasAnswered: Bool) {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .cancelled, .closed: .cancelled
            case .lost where hasAnswered: .deviceLost
            default: .unavailable
            }
        self.init(code, message: error.message, cause: error.description)
    }
}
