// SPDX-License-Identifier: Apache-2.0
import Protocomm
import Logging
import RainCore
import RainIO
import Synchronization

/// A ``Board`` over the console of RainMaker's stock examples on their UART: `get-node-id`, `add-user`, `wifi-prov`.
///
/// There is no encryption and no proof of possession: the cable alone gives control over the board. The board echoes and logs the mapping
/// secret and the passphrase, so its output is never logged or put into an error; only `BoardEvent` values are taken from it. The result of
/// the attempt to join is read from the board's log.
public actor RainMakerConsoleBoard: Board {
    /// A command takes milliseconds; a booting board takes two or three seconds.
    public static let commandDeadline = Duration.seconds(5)

    public nonisolated let peer: String
    private let console: CommandConsole
    private let clock: any Clock<Duration>
    let time: Timekeeper
    let logger: Logger
    private let printed: @Sendable () -> PrintedIdentity?
    private var nodeID: NodeID?
    private var hasAnswered = false
    private var network: WiFiNetwork?
    /// The `add-user` line that the board has accepted, and its number of restarts at that time: it keeps the user only in memory.
    private var association: (line: [UInt8], restarts: Int)?
    /// The board's log about an attempt that an earlier run began, while it accepts no other network.
    var earlier = EarlierAttempt()
    /// The network that the board had already joined when it was to be provisioned.
    private var arrival: JoinedNetwork?
    /// The events of the attempt so far.
    private var events: [BoardEvent] = []
    private var hasFailedToJoin = false
    /// Continues to read after the result of the attempt.
    private var reader: EventReader?
    /// The cloud connection in the log while the board joined its network.
    private var contact: CloudContact?

    /// - Parameters:
    ///   - console: owned by the board from now on, and closed with it.
    ///   - nodeID: the board's id, if probing has already found it.
    ///   - printed: returns the identity that the board has printed so far, if its start was heard.
    public init(
        console: CommandConsole, nodeID: NodeID? = nil, printed: @escaping @Sendable () -> PrintedIdentity? = { nil },
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        peer = console.port.path
        self.console = console
        self.nodeID = nodeID
        self.printed = printed
        hasAnswered = nodeID != nil
        self.clock = clock
        time = Timekeeper(clock)
        self.logger = logger
    }

    public func identify() async throws(BoardError) -> BoardIdentity {
        let nodeID = try await knownNodeID()
        // Only a claimed board has another name than the MAC address; self-claimed boards keep the MAC address too.
        var identity = BoardIdentity(
            association: .userMapping, needsClaim: nodeID.isMACAddress ? nil : false, nodeID: nodeID,
            version: "rainmaker-console", capabilities: ["console.user_mapping", "console.wifi_prov"])
        identity.printed = printed()
        return identity
    }

    public func secure() async throws(BoardError) {}

    public func scan() async throws(BoardError) -> [AccessPoint] {
        throw BoardError(
            .unsupported, message: "The board's console cannot list networks.",
            remedies: [.networkName])
    }

    public func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply {
        guard case .userMapping(let user, let secret) = request else {
            throw BoardError(
                .unsupported,
                message:
                    "The board's console does not support challenges. Over its console, a board can be associated only by user-node mapping."
            )
        }
        let nodeID = try await knownNodeID()
        try await tellUser(
            try line("add-user", [Array(user.rawValue.utf8), secret.secret.revealBytes()], what: "user id"))
        return AssociationReply(nodeID: nodeID)
    }

    private func tellUser(_ line: [UInt8]) async throws(BoardError) {
        // The only line of the answer may get lost, and the same command only begins the same mapping again.
        var attempts = 3
        while attempts > 0 {
            let events = try await run(line, "add-user")
            if let error = failure(events, "add-user") { throw error }
            if events.contains(.mappingStarted) { break }
            attempts -= 1
        }
        guard attempts > 0 else {
            throw BoardError(
                .notRainMaker,
                message:
                    "The board's firmware does not know the command add-user. Check that the firmware is based on a RainMaker example."
            )
        }
        association = (line, await console.restarts)
    }

    /// Sends the user again to a board that has restarted since, for example while a person was asked for another network.
    private func tellUserAgainAfterRestart() async throws(BoardError) {
        try await within("an empty line") { console async throws(SerialPortError) in try await console.makeReady() }
        guard let association, await console.restarts != association.restarts else { return }
        logger.debug("the board restarted; sending its user again", metadata: ["peer": "\(peer)"])
        try await tellUser(association.line)
    }

    public func join(_ network: WiFiNetwork) async throws(BoardError) { try await join(network) { _ in } }

    /// A board that is still trying an earlier run's network refuses (`alreadyGiven`), unless its firmware switches to the new one at once.
    /// This waits for the result of the earlier attempt.
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) {
        var words = [network.ssid.bytes]
        if !network.passphrase.isEmpty { words.append(network.passphrase.revealBytes()) }
        let line = try line("wifi-prov", words, what: "network name or passphrase")
        arrival = nil
        earlier = EarlierAttempt(hasFailed: hasFailedToJoin, since: time.elapsed())
        var events = try await type(line)
        while events.contains(.settingsRefused(.alreadyGiven)) {
            // Events that arrived with the refusal.
            reader = EventReader(events.filter { $0 != .settingsRefused(.alreadyGiven) })
            arrival = try await waitForEarlierAttempt(network, report: report)
            guard arrival == nil else { return }
            events = try await type(line)
        }
        for case .settingsRefused(let refusal) in events {
            // Provisioning ends by itself after a success: the earlier attempt has succeeded.
            throw earlier.isTold ? leftToCloud() : refused(refusal)
        }
        self.network = network
        self.events = events
        hasFailedToJoin = false
    }

    /// Sends the board its network; throws `mayBeJoining` if it is unknown whether the board accepted it.
    private func type(_ line: [UInt8]) async throws(BoardError) -> [BoardEvent] {
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

    /// Returns the board's next event: one that was already read, or the next to arrive.
    func nextEvent() async throws(BoardError) -> BoardEvent {
        var reader = reader ?? EventReader([])
        defer { self.reader = reader }
        return try await next(&reader)
    }

    public func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        if let arrival { return arrival }
        guard let network else {
            throw BoardError(.invalidArgument, message: "The board has not received a network yet.")
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
    ) async throws(BoardError) -> String {
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
                throw BoardError(
                    .wifiAuthenticationFailed,
                    message: "The network \"\(network.ssid)\" refused the board: check the Wi-Fi password."
                ).remarking(on: network)
            case .networkNotFound:
                throw BoardError.notHeard(network.ssid).remarking(on: network)
            case .failed(let reason):
                throw BoardError(
                    .wifiFailed,
                    message:
                        "The board stopped trying the network \"\(network.ssid)\" (reason \(reason) in ESP-IDF's wifi_err_reason_t)."
                )
            case .refused(let refusal): throw refused(refusal)
            case .restarted:
                throw BoardError(
                    .deviceLost,
                    message: "The board restarted while it was joining. Check its power supply, then try again.")
            }
        }
    }

    public func cloudContact() async throws(BoardError) -> CloudContact? {
        guard var reader else { return nil }
        defer { self.reader = reader }
        while contact == nil { contact = try await next(&reader).contact }
        defer { contact = nil }
        return contact
    }

    /// Does nothing, as the console has no such command. After a failed attempt RainMaker's examples forget the settings by themselves
    /// (`CONFIG_APP_NETWORK_RESET_PROV_ON_FAILURE`). If this board does not, `join` reports it.
    public func reset() async throws(BoardError) {
        guard !hasFailedToJoin else { return }
        throw BoardError(
            .unsupported,
            message:
                "The board's console cannot forget only the Wi-Fi settings. Type `reset-to-factory` on the console to forget all settings."
        )
    }

    public func close() async { await console.close() }
}

// MARK: - Commands

extension RainMakerConsoleBoard {
    private func knownNodeID() async throws(BoardError) -> NodeID {
        if let nodeID { return nodeID }
        let events = try await run(Array("get-node-id".utf8), "get-node-id")
        for case .nodeID(let id) in events {
            nodeID = id
            return id
        }
        if let error = failure(events, "get-node-id") { throw error }
        throw BoardError(
            .notRainMaker,
            message:
                "The board's console does not know get-node-id, so its firmware is probably not based on RainMaker."
        )
    }

    private func line(_ command: String, _ arguments: [[UInt8]], what: String) throws(BoardError) -> [UInt8] {
        var words = [ConsoleWord(command)]
        for argument in arguments { words.append(ConsoleWord(argument)) }
        let typed = words.compactMap(\.self)
        guard typed.count == words.count else {
            throw BoardError(
                .invalidArgument,
                message:
                    "The \(what) contains a control character, which cannot be typed on the board's console. Use Bluetooth or the board's own access point."
            )
        }
        guard let line = ConsoleLine.make(typed) else {
            throw BoardError(
                .invalidArgument,
                message:
                    "The \(what) makes the line longer than the \(ConsoleLine.maximumLength) characters that the board's "
                    + "console accepts.")
        }
        return line
    }

    private func run(_ line: [UInt8], _ name: String) async throws(BoardError) -> [BoardEvent] {
        let start = ContinuousClock.now
        let isEchoCut = Mutex(false)
        let events: [BoardEvent]
        do throws(BoardError) {
            events = try await within(name) { console async throws(SerialPortError) in
                try await console.run(
                    CommandReply(command: line), atEnd: { reply in isEchoCut.withLock { $0 = reply.isEchoCut } })
            }
        } catch {
            let isSilence = [.deviceLost, .neverAnswered].contains(error.code) && error.reason == nil
            guard isSilence, isEchoCut.withLock({ $0 }) else { throw error }
            var told = error
            (told.message, told.cause) = (BoardError.lostCharacters, error.cause ?? error.message)
            throw told
        }
        logger.debug(
            "console command",
            metadata: [
                "peer": "\(peer)", "command": "\(name)", "sent": .stringConvertible(line.count),
                "ms": .stringConvertible(Int(start.duration(to: .now) / .milliseconds(1))),
            ])
        return events
    }

    /// - Parameter what: the request that the board is to answer.
    private func within<Answer: Sendable>(
        _ what: String, _ body: @escaping @Sendable (CommandConsole) async throws(SerialPortError) -> Answer
    ) async throws(BoardError) -> Answer {
        let (console, clock) = (console, clock)
        let result = await withDeadline(Self.commandDeadline, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in try await body(console)
        }
        switch result {
        case .success(let answer)?:
            hasAnswered = true
            return answer
        case .failure(let error)?: throw BoardError(error, hasAnswered: hasAnswered)
        case nil:
            throw BoardError(
                hasAnswered ? .deviceLost : .neverAnswered,
                message: "The board's console at \(peer) did not answer \(what) within \(Self.commandDeadline). "
                    + "Some boards with native USB only print their log on the USB connector: use the UART connector.")
        }
    }

    /// Returns the error of a command, if there is one.
    private func failure(_ events: [BoardEvent], _ name: String) -> BoardError? {
        for event in events {
            switch event {
            case .commandFailed(let code):
                return BoardError(
                    .rejected,
                    message:
                        "The board's command \(name) failed with error \(code). The board may not have been claimed.")
            case .invalidUsage:
                return BoardError(.rejected, message: "The board did not understand the arguments of \(name).")
            case .lineDiscarded:
                return BoardError(
                    .deviceLost, message: "The board lost a part of the command line. Try again.")
            case .restarted: return restarted(in: name)
            default: continue
            }
        }
        return nil
    }

    private func restarted(in name: String) -> BoardError {
        BoardError(
            .deviceLost, message: "The board restarted in the middle of \(name). Check its power supply.")
    }

    func refused(_ refusal: BoardEvent.Refusal) -> BoardError {
        switch refusal {
        case .alreadyGiven:
            BoardError(
                .rejected,
                message:
                    "The board is still trying other Wi-Fi settings, or has failed with them. Restart the board, or type "
                    + "`reset-to-factory` on its console.")
        case .notReady:
            provisioned(
                BoardError(
                    .rejected,
                    message:
                        "The board does not accept Wi-Fi settings now: its provisioning has stopped. Restart the board and try again."
                ))
        }
    }

    /// Adds which board this is, so that the caller can look for it in an account.
    private func provisioned(_ error: BoardError) -> BoardError {
        var error = error
        error.provisionedNode = nodeID
        return error
    }

    private func next(_ reader: inout EventReader) async throws(BoardError) -> BoardEvent {
        if let event = reader.pending() { return event }
        var copy = reader
        let event: BoardEvent
        do {
            event = try await console.readPieces { copy.append($0) }
        } catch {
            throw BoardError(error, hasAnswered: hasAnswered)
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
    /// Whether this is twelve upper-case hex digits: the name of a board that was never claimed, or has claimed itself.
    fileprivate var isMACAddress: Bool {
        let digits = rawValue.utf8
        return digits.count == 12
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    }
}

/// A board that an earlier run has sent to a network, and that accepts no other while it tries. This applies to early RainMaker firmware,
/// whose `wifi-prov` only uses the provisioning service. Later firmware leaves the other attempt at once.
extension RainMakerConsoleBoard {
    /// Waits until the board may accept its network.
    ///
    /// - Returns: the board's network, if the earlier attempt led to the requested one.
    func waitForEarlierAttempt(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) -> JoinedNetwork? {
        guard earlier.isWorthWaiting(at: time.elapsed()) else {
            // A board that has been on a network for a long time prints nothing about it, but the cloud may know.
            throw earlier.hasFailed ? refused(.alreadyGiven) : leftToCloud()
        }
        if !earlier.isTold {
            logger.debug("the board is trying an earlier network", metadata: ["peer": "\(peer)"])
            await report(.occupied)
        }
        earlier.isTold = true
        // Its log may be off, so the command is also repeated. The application resets the board shortly after it reports the failure.
        let pause = earlier.nextPause()
        let result = await withDeadline(pause, sleep: time.sleep) { () async throws(BoardError) in
            try await self.outcomeOfEarlierAttempt()
        }
        guard case .arrived(let place)? = try result?.get() else { return nil }
        try place.verify(isOn: network)
        return place
    }

    /// The error for a board that is most likely on a network by then, and will be in the account once it has reported the mapping.
    func leftToCloud() -> BoardError {
        BoardError(
            .mayBeJoining,
            message:
                "The board at \(peer) did not accept Wi-Fi settings. It is joining a network that it received before, or has already "
                + "joined that network. Look for the board in your account, or type `reset-to-factory` on its console and try again."
        )
    }

    private func outcomeOfEarlierAttempt() async throws(BoardError) -> EarlierAttempt.Outcome {
        while true {
            let event = try await nextEvent()
            if let outcome = earlier.take(event, at: time.elapsed()) { return outcome }
        }
    }
}

/// The log about an attempt that an earlier run began, and the decision how long to wait for it. It is a value, so that the policy can be
/// read and tested by itself.
struct EarlierAttempt: Sendable {
    /// A board whose log does not mention the attempt for this long is not trying.
    static let patience = Duration.seconds(40)
    /// After a failure the application resets its board at once, or tries again, or does neither.
    static let patienceAfterFailure = Duration.seconds(6)

    /// Whether the attempt has failed at least once.
    private(set) var hasFailed = false
    /// When the log last mentioned the attempt.
    private var lastSign = Duration.zero
    private var ssid: [UInt8] = []
    /// Whether the caller was informed about the wait.
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

    /// Returns how long to listen before the command is repeated. A new event ends the pause.
    mutating func nextPause() -> Duration { max(schedule.next(), .milliseconds(100)) }

    /// Whether the command is to be repeated.
    func isWorthWaiting(at now: Duration) -> Bool {
        now - lastSign < (hasFailed ? Self.patienceAfterFailure : Self.patience)
    }
}

/// Decides from the board's events how its attempt to join a network ends.
///
/// A connection that is lost for an "other" reason is not the end. Firmware that counts its attempts reports the last one; other firmware
/// tries for ever. The application's own result may repeat the reason of an earlier failure (`network_prov_mgr` keeps it), so the manager's
/// number has priority.
struct JoinVerdict: Sendable {
    enum Outcome: Sendable, Equatable {
        case joined(address: String)
        case authenticationFailed
        case networkNotFound
        /// The attempt failed with another reason of `wifi_err_reason_t`.
        case failed(reason: Int32)
        case restarted
        /// The manager refused settings that were sent after all.
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

    /// The reasons that the manager converts into a result: 4-way timeout, MIC failure, authentication, handshake, no AP.
    private static let explained: Set<Int32> = [14, 15, 201, 202, 204]
}

/// One argument of a console line, encoded so that the board reads the same bytes.
///
/// The board's rules (`esp_console_split_argv` of ESP-IDF): spaces separate; double quotes keep spaces; a backslash makes a backslash, a
/// double quote or a space literal. Tabs and all other characters are ordinary bytes.
struct ConsoleWord: Sendable, Equatable {
    /// The encoded argument.
    let typed: [UInt8]

    /// Nil for bytes that no line can contain: those that end a line (CR, and LF on newer firmware), edit it (backspace), or end the
    /// board's strings (NUL).
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

/// A complete line for the console.
enum ConsoleLine {
    /// The board's buffer has 256 bytes including the terminating zero; older firmware counts the CR among the other 255 (`scli_task` in
    /// `rmaker_console.c`).
    static let maximumLength = 254

    /// Joins the words with spaces; returns nil if the board would truncate the line.
    static func make(_ words: [ConsoleWord]) -> [UInt8]? {
        let line = Array(words.map(\.typed).joined(separator: [UInt8(ascii: " ")]))
        return line.count <= maximumLength ? line : nil
    }
}

extension BoardError {
    /// Converts an error of the serial port for the board at it.
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
