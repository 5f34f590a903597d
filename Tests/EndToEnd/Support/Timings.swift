// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Promises of time. A busy machine cannot keep them, so only `make timings` checks them.
enum Timings {
    /// Whether nothing else runs (`make timings`).
    static let isAlone = currentEnvironment()["RAINKIT_ALONE"] == "1"

    /// Returns the promised time if nothing else runs, and the usual limit of a wait otherwise.
    static func limit(_ promised: Duration) -> Duration { isAlone ? promised : .waitLimit }
}
