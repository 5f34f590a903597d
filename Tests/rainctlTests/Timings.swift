// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Promises of time, which tests beside each other on a busy machine cannot hold anybody to.
enum Timings {
    /// Whether nothing else runs (`make timings`).
    static let isAlone = currentEnvironment()["RAINKIT_ALONE"] == "1"
}
