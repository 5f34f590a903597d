// SPDX-License-Identifier: Apache-2.0

/// Opens TCP connections.
public enum TCPConnection {
    /// Connects to `port` of `host`, a name or an IPv4 or IPv6 address. Of several addresses the first that answers counts; each gets
    /// its share of the time that is left.
    ///
    /// Throws `notFound` (the name has no address), `refused`, `unreachable`, `timedOut`, `cancelled` or `failed`.
    ///
    /// - Parameter limit: for everything, the lookup of the name too.
    public static func open(
        host: String, port: UInt16, within limit: Duration = .seconds(10)
    ) async throws(ByteStreamError) -> ByteStream {
        let attempt = TCPAttempt(host: host, port: port, deadline: .after(limit))
        let result: Result<Int32, ByteStreamError>
        do throws(ThreadError) {
            result = try await onInterruptibleThread { attempt.run($0) }
        } catch {
            switch error {
            case .noPipe(let code), .noThread(let code): throw attempt.failed(code)
            }
        }
        return try ByteStream.socket(try result.get(), peer: attempt.peer)
    }
}
