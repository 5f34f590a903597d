import Glibc
import RainWaiting

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
        guard let interrupt = WakePipe() else { throw attempt.failed(errno) }
        let waiter = Waiter<Result<Int32, ByteStreamError>>()
        let failure = startThread { waiter.resume(returning: attempt.run(interrupt)) }
        guard failure == 0 else { throw attempt.failed(failure) }
        // The thread always answers, so a socket that was connected just then is not left open.
        let socket = try await waiter.value(onCancel: { interrupt.ring() }).get()
        return try ByteStream.socket(socket, peer: attempt.peer)
    }
}
