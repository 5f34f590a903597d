// SPDX-License-Identifier: Apache-2.0

/// What every command prints when it fails.
struct ErrorResult: CommandResult {
    let error: Cause

    init(_ failure: CommandFailure) { error = Cause(failure) }

    var text: String { "error: \(error.message)" }

    /// Also the end of a stream of events.
    struct Cause: Encodable, Sendable {
        let code: String
        let exit: Int32
        let reason: String
        let message: String
        let step: String?
        let retryAfter: Int64?

        private enum CodingKeys: String, CodingKey {
            case code, exit, reason, message, step
            case retryAfter = "retry_after"
        }

        init(_ failure: CommandFailure) {
            code = failure.status.name
            exit = failure.status.rawValue
            reason = failure.reason
            message = failure.message.withoutControls
            step = failure.step
            retryAfter = failure.retryAfter?.wholeSeconds
        }
    }
}
