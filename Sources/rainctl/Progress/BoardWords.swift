// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The last line of the board's own log, which a person sees while something is waited for.
final class BoardWords: Sendable {
    private let line = Mutex("")

    /// A log may come at megabytes a second, and few of its lines are ever looked at: nothing is done with them here.
    func take(_ text: String) { line.withLock { $0 = text } }

    /// Empty where the board has said nothing, and where its last line may hold a secret: RainMaker's examples log the password of the Wi-Fi.
    var last: String {
        let text = line.withLock { $0 }.onOneLine
        let lowered = text.lowercased()
        let isSecret = ["pass", "pop", "proof", "secret", "key"].contains(where: lowered.contains)
        return isSecret || text.allSatisfy { $0 == " " } ? "" : text
    }
}
