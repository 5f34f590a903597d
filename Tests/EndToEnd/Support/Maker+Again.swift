// SPDX-License-Identifier: Apache-2.0
import TestSupport

extension Maker {
    /// Runs a command again and again until its outcome is the expected one, or the safety limit is reached. Returns the last outcome.
    ///
    /// For searches, which always last as long as their time: on a busy machine one search may find too little.
    func rainctl(
        _ arguments: [String], environment: [String: String] = [:], until isExpected: (Outcome) -> Bool
    ) async throws -> Outcome {
        let end = ContinuousClock.now + .waitLimit
        var outcome = try await rainctl(arguments, environment: environment)
        while !isExpected(outcome), ContinuousClock.now < end {
            outcome = try await rainctl(arguments, environment: environment)
        }
        return outcome
    }
}
