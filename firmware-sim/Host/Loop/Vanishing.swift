// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import RainJSON

/// Removes the board, or the link to it, from the loop some time after it has accepted Wi-Fi settings: `--vanish`.
///
/// A removed source does nothing and closes nothing: its peers see silence, as with a board without power. Only a pulled serial cable is
/// noticed at once.
final class Vanishing: EventSource {
    private let loop: EventLoop
    private let journal: Journal
    private let fault: VanishOption
    /// The links between client and board.
    var ways: [any EventSource] = []
    /// Closed when the link disappears, like the port of a pulled cable.
    var cable: (any EventSource)?
    private(set) var due: UInt64?

    init(_ fault: VanishOption, _ board: Board, on loop: EventLoop, random: BoardRandom) {
        self.loop = loop
        self.fault = fault
        journal = board.journal
        var random = random
        let delay = fault.delay ?? UInt64(random.number() % VanishOption.latest)
        board.observe { [weak self, weak board] event in
            guard let self, case .credentialsReceived = event, due == nil else { return }
            due = MonotonicClock.now + delay
            if delay == 0 { board?.isMute = true }
        }
    }

    var interests: [Interest] { [] }
    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}

    func wake(now: UInt64) {
        guard let due, due <= now else { return }
        self.due = .max
        journal.state("vanished", [.init("what", .string(fault.what.rawValue))])
        switch fault.what {
        case .power: loop.keepOnly { $0 is TerminationSignals }
        case .link:
            cable?.shutDown()
            loop.keepOnly { [ways] source in !ways.contains { $0 === source } }
        }
    }

    func shutDown() {}
}

/// A `--vanish`: `power` or `link`, each with `=SECONDS` or, for a random moment, without.
struct VanishOption: ExpressibleByArgument {
    fileprivate enum What: String {
        /// The board loses its power: it is silent from then on, and its connections stay open.
        case power
        /// The client loses its link to the board, by a pulled cable or the access point's channel; the board keeps running.
        case link
    }

    /// The latest random moment, in milliseconds after the accepted Apply: later than a board needs to join and to report.
    fileprivate static let latest: UInt32 = 3000

    fileprivate var what: What
    /// Milliseconds after the accepted Apply, where 0 also loses its answer; nil for a random moment.
    fileprivate var delay: UInt64?

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let what = parts.first.flatMap(What.init(rawValue:)) else { return nil }
        self.what = what
        guard parts.count == 2 else { return }
        guard let seconds = Double(parts[1]), (0...3600).contains(seconds) else { return nil }
        delay = UInt64((seconds * 1000).rounded())
    }
}
