// SPDX-License-Identifier: Apache-2.0

extension SimulatedBoard {
    /// What most tests want of a board, beneath what one says itself: Security 1, a mapping that board and user both report, one attempt to
    /// join, in 0.4 s.
    ///
    /// `firmware-sim` itself is today's firmware, which may change with each version of it; a test that is about a firmware names its
    /// `--preset`, and has only the delay from here.
    public static func arguments(_ own: [String]) -> [String] {
        var defaults = [["--join-delay", "0.4"]]
        if !own.contains("--preset") {
            defaults += [["--security", "1"], ["--mapping", "user"], ["--attempts", "0"]]
            if !own.contains("--reset-on-failure") { defaults.append(["--no-reset-on-failure"]) }
        }
        return defaults.filter { !own.contains($0[0]) }.flatMap(\.self) + own
    }
}
