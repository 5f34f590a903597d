// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO
import Synchronization

/// A report about a board's serial port on which the board has not named itself. The port is still listened to.
public enum PortChange: Sendable, Hashable {
    /// The board may have printed its start before the port was open, and prints it again if a person restarts the board. If `isSilent`,
    /// nothing at all has arrived. `searches` has the schemes of the other transports over which the board is also looked for.
    case needsRestart(String, isSilent: Bool, searches: [String])
    /// The board was restarted through the port's lines DTR and RTS.
    case restarted(String)
    /// This board is in range of another transport. It may be the one at the port.
    case found(FoundBoard)
    /// The port was removed and has returned, maybe under another name.
    case returned(String)
}

/// Handles a port on which the board has not named itself. It asks a person to restart the board, and looks for the board over the other
/// transports. It lasts while the board is being opened, even if the port is removed and returns.
///
/// A board on the chip's own USB shows its MAC address, whose last six digits end the name of its provisioning service
/// (`app_network.c` of esp-rainmaker). So a board that is found under that name is the board at the port.
final class SilentPort: Sendable {
    /// Searches over the other transports until it is cancelled. Calls the first closure with each board once, and the second one with the
    /// scheme of each transport that cannot search.
    typealias Search =
        @Sendable (
            @escaping @Sendable (FoundBoard) -> Void, @escaping @Sendable (String) -> Void
        ) async -> Void

    private struct State {
        /// The port and whether nothing has arrived from it, once this was noticed.
        var silence: (path: String, isSilent: Bool)?
        /// Whether the silence has been reported.
        var isAnnounced = false
        var isEnded = false
        var search: Task<Void, Never>?
        var timer: Task<Void, Never>?
        /// The transports that cannot search.
        var unavailable: Set<String> = []
        var found: [FoundBoard] = []
        var restart = Restart.none
        /// The last six digits of the chip's MAC address, if the port shows it.
        var suffix: String?
    }

    /// The outcome of the attempt to restart the board.
    enum Restart: Sendable { case none, impossible, done(at: Duration) }

    private let state = Mutex(State())
    private let macAddress: @Sendable () -> String?
    private let hasProof: Bool
    private let tell: @Sendable (PortChange) -> Void
    private let schemes: [String]
    private let look: Search?

    /// A transport that this machine does not have fails within this time. It is not named then.
    private static let timeToFail = Duration.milliseconds(500)
    /// A board that was restarted has named itself by then.
    private static let timeToPrint = Duration.seconds(3)

    /// - Parameters:
    ///   - macAddress: returns the address of the chip, if the port shows it.
    ///   - hasProof: whether the proof of possession is known without the board's log.
    ///   - schemes: the transports of the search.
    ///   - look: searches over the other transports until it is cancelled; nil for no search.
    init(
        macAddress: @escaping @Sendable () -> String?, hasProof: Bool, tell: @escaping @Sendable (PortChange) -> Void,
        schemes: [String], look: Search?
    ) {
        self.schemes = schemes
        self.macAddress = macAddress
        self.hasProof = hasProof
        self.tell = tell
        self.look = look
    }

    /// Whether a person was asked to restart the board.
    var isReported: Bool { state.withLock { $0.silence != nil } }

    var restart: Restart { state.withLock { $0.restart } }

    /// The names of the boards that were found, which may be the board at the port.
    var names: [String] { state.withLock { $0.found.compactMap(\.name) }.sorted() }

    /// Begins the search, and reports the silence as soon as it is known which transports can search. Does nothing when it is called again.
    /// - Parameter isSilent: whether nothing at all has arrived.
    func report(_ path: String, isSilent: Bool) {
        let isFirst = state.withLock { state in
            guard state.silence == nil else { return false }
            state.silence = (path, isSilent)
            return true
        }
        guard isFirst else { return }
        let digits = (macAddress() ?? "").filter(\.isHexDigit).lowercased()
        if digits.utf8.count == 12 { state.withLock { $0.suffix = String(digits.suffix(6)) } }
        guard let look else { return announce() }
        // Both are ended by `end()`.
        let search = Task {
            await look({ self.add($0) }, { self.note(unavailable: $0) })
            if !self.state.withLock({ $0.isEnded }) { self.announce() }
        }
        let timer = Task {
            guard (try? await Task.sleep(for: Self.timeToFail)) != nil else { return }
            self.announce()
        }
        state.withLock { ($0.search, $0.timer) = (search, timer) }
    }

    /// Reports the silence, once.
    private func announce() {
        let change: PortChange? = state.withLock { state in
            guard !state.isAnnounced, let silence = state.silence else { return nil }
            state.isAnnounced = true
            let unavailable = state.unavailable
            let searches = look == nil ? [] : schemes.filter { !unavailable.contains($0) }
            return PortChange.needsRestart(silence.path, isSilent: silence.isSilent, searches: searches)
        }
        if let change { tell(change) }
    }

    /// Notes and reports that the board was restarted.
    func restarted(_ path: String, at now: Duration) {
        state.withLock { $0.restart = .done(at: now) }
        tell(.restarted(path))
    }

    /// Notes that the port has no lines that restart a board.
    func cannotRestart() { state.withLock { $0.restart = .impossible } }

    /// Reports that the port has returned, if a person may have unplugged it.
    func returned(_ path: String) {
        if isReported { tell(.returned(path)) }
    }

    /// Returns the port's board, if it was found over another transport and nothing more is to be expected from the port. A restart comes
    /// first if the proof of possession is unknown, because the board's log has it.
    func board(at now: Duration) -> FoundBoard? {
        state.withLock { state in
            guard let suffix = state.suffix,
                let board = state.found.first(where: { $0.name?.lowercased().hasSuffix(suffix) == true })
            else { return nil }
            switch state.restart {
            case .none: return hasProof ? board : nil
            case .impossible: return board
            case .done(let time): return hasProof || now - time >= Self.timeToPrint ? board : nil
            }
        }
    }

    /// Ends the search.
    func end() async {
        let (search, timer) = state.withLock { state in
            state.isEnded = true
            return (state.search, state.timer)
        }
        timer?.cancel()
        search?.cancel()
        await timer?.value
        await search?.value
    }

    private func add(_ board: FoundBoard) {
        state.withLock { $0.found.append(board) }
        announce()
        tell(.found(board))
    }

    private func note(unavailable scheme: String) { state.withLock { _ = $0.unavailable.insert(scheme) } }
}
