// SPDX-License-Identifier: Apache-2.0

/// When to ask again whether the person has answered (RFC 8628, section 3.5): a value that is told what came and says what is next.
public struct DevicePolling: Sendable, Equatable {
    /// What came of a question.
    public enum Outcome: Sendable, Equatable {
        /// `authorization_pending`.
        case pending
        /// `slow_down`.
        case slowDown
        /// Nothing came: no connection, no answer in time, a fault of the server's. It may have asked for a rest.
        case nothing(retryAfter: Double?)
    }

    /// Seconds between two questions, as of now.
    public private(set) var interval: Double
    /// When the codes end, in seconds since they came.
    public let end: Double

    /// Both in seconds, as the server gave them.
    public init(interval: Double, expiresIn: Double) {
        self.interval = interval
        end = expiresIn
    }

    /// How long to wait before the first question, or before the next one; nil if the codes will have ended by then.
    /// - Parameter elapsed: seconds since the codes came.
    public func wait(at elapsed: Double) -> Double? {
        elapsed + interval < end ? interval : nil
    }

    /// Takes in what came of a question: the next one may have to wait longer.
    public mutating func hear(_ outcome: Outcome) {
        switch outcome {
        case .pending: break
        case .slowDown: interval = min(interval + 5, DeviceAuthorization.longestInterval)
        // "must unilaterally reduce their polling frequency … an exponential backoff … is RECOMMENDED"
        case .nothing(let rest):
            interval = min(max(interval * 2, rest ?? 0), DeviceAuthorization.longestInterval)
        }
    }
}
