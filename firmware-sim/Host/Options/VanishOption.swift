// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A `--vanish`: `power` or `link`, each with `=SECONDS` or without, for a random moment.
struct VanishOption: ExpressibleByArgument {
    enum What: String {
        /// The board loses its power: nobody hears of it again, and its connections stay open and silent.
        case power
        /// The client loses its way to the board, by a pulled cable or the access point's channel; the board goes on.
        case link
    }

    /// The latest random moment, in milliseconds after the accepted Apply: later than a board takes to join and to report.
    static let latest: UInt32 = 3000

    var what: What
    /// Milliseconds after the accepted Apply, where 0 takes its answer as well; nil for a random moment.
    var delay: UInt64?

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let what = parts.first.flatMap(What.init(rawValue:)) else { return nil }
        self.what = what
        guard parts.count == 2 else { return }
        guard let seconds = Double(parts[1]), (0...3600).contains(seconds) else { return nil }
        delay = UInt64((seconds * 1000).rounded())
    }
}
