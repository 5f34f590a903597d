// SPDX-License-Identifier: Apache-2.0
import RainHTTP

/// HTTP by libcurl. A transfer to a server nearby runs on the calling thread, which is blocked for a millisecond at most. All other
/// transfers of one client run on one thread of its own, which starts when it is needed and ends when the client is closed or dropped.
///
/// Certificates are always verified. Proxies are taken from the usual environment variables, but never for an address of this machine or of
/// a private network, where simulators and boards are.
public final class CurlHTTPClient: HTTPClient {
    private let driver: CurlDriver
    private let targets = RecentTarget()

    /// Makes a client. It neither connects nor starts a thread before it is asked for something.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        driver = CurlDriver(configuration)
    }

    deinit { driver.close() }

    /// Loads and starts libcurl, and with it OpenSSL, for this process, if nobody has; the first request does it otherwise. It takes some
    /// milliseconds, on whatever thread it is called, and those who need it meanwhile wait. A process must not `exit` meanwhile: OpenSSL would
    /// be stopped while it starts.
    public static func prepare() { _ = loadedCurl }

    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let target = try targets.target(of: request)
        let ticket = TransferHandle()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                driver.start(
                    PendingTransfer(ticket: ticket, request: request, target: target, continuation: continuation))
            }
        } onCancel: {
            driver.cancel(ticket)
        }
        return try result.get()
    }

    public func close(kept name: String) async { driver.close(kept: name) }

    /// Ends what is under way with ``HTTPError/Code-swift.struct/cancelled``, closes all connections and ends the thread.
    public func close() { driver.close() }
}
