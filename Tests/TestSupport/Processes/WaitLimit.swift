// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The time after which a test gives up waiting for an event that must come: 480 s, which is less than the time limit of a suite.
    ///
    /// Only a failing test waits that long. A busy machine may need twenty times the usual time for anything, so a shorter limit would
    /// fail tests that only had to wait for a processor.
    public static let waitLimit = Duration.seconds(480)
}
