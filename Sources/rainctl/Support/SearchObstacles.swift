// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// What keeps a search from looking in some of the ways: told while it goes on in the others, once it is known that there is a search.
final class SearchObstacles: Sendable {
    private struct State {
        var isTelling = false
        var lines: [String] = []
        /// Two ways may fail for one reason, such as a bus that is not there.
        var messages: Set<String> = []
    }

    private let output: Output
    private let state = Mutex(State())

    init(_ output: Output) { self.output = output }

    func take(_ error: ProvisioningError, on scheme: String) {
        state.withLock { state in
            guard state.messages.insert(error.message).inserted else { return }
            let line = "Not \(scheme.wayToBoard): \(error.message.onOneLine)"
            if state.isTelling { output.say(line) } else { state.lines.append(line) }
        }
    }

    /// Says what came before, and from here on all at once.
    func tell() {
        state.withLock { state in
            state.isTelling = true
            for line in state.lines { output.say(line) }
            state.lines = []
        }
    }
}
