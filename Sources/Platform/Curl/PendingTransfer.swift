// SPDX-License-Identifier: Apache-2.0
import RainHTTP

/// A request on its way to libcurl, and the caller that waits for the outcome.
final class PendingTransfer: Sendable {
    let ticket: TransferHandle
    let request: HTTPRequest
    let target: RequestTarget
    let continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
    let limit: ContinuousClock.Instant

    init(
        ticket: TransferHandle, request: HTTPRequest, target: RequestTarget,
        continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
    ) {
        self.ticket = ticket
        self.request = request
        self.target = target
        self.continuation = continuation
        limit = .now + request.deadline
    }

    func error(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, host: target.host, message: message)
    }
}
