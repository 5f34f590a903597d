// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension UnixTime {
    /// Reads a date and a time of day in UTC: `2030-01-01T12:00:00Z`, or with a space between them. Returns nil for anything else.
    public init?(utc text: String) {
        guard let time = CivilTime(text)?.time else { return nil }
        self = time
    }
}
