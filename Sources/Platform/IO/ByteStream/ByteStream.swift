// SPDX-License-Identifier: Apache-2.0

/// Bytes that come and go over one descriptor: a connected socket, or a terminal.
///
/// It is read all the time, also while nobody reads here, so that the end of the connection is noticed when it comes. What has
/// arrived is kept up to ``inputCapacity`` bytes. Beyond that a socket is no longer read, which makes the other side wait; of a
/// terminal, whose other side cannot wait, the oldest bytes go.
///
/// One thread serves the stream with `poll(2)`. All methods may be called from any task at any time.
public final class ByteStream: Sendable {
    /// Bytes kept for a reader that is late: some seconds of a board's log at 115,200 baud.
    public static let inputCapacity = 1 << 16

    private let loop: StreamLoop

    private init(_ loop: StreamLoop) { self.loop = loop }

    /// A stream that nobody holds any more closes itself.
    deinit { loop.requestClose() }

    /// Takes a connected stream socket over, which is closed with the stream, or at once where this throws `failed`.
    ///
    /// - Parameter peer: who is at the other end, for errors.
    public static func socket(_ descriptor: Int32, peer: String) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.socket(descriptor), peer: peer))
    }

    /// The same for a socket with a layer above it.
    public static func socket(_ socket: any LayeredSocket, peer: String) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.layered(socket), peer: peer))
    }

    /// Takes a terminal over.
    ///
    /// - Parameter close: gives the descriptor back, on the stream's thread; it is told whether bytes remained unsent.
    package static func terminal(
        _ descriptor: Int32, peer: String, close: @escaping @Sendable (_ hasUnsent: Bool) -> Void
    ) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.terminal(descriptor, close: close), peer: peer))
    }

    /// The next bytes, at least one. One reader at a time: a second one takes the first one's place, which is then `cancelled`.
    ///
    /// Throws, once everything that had arrived was read: `ended`, `lost`, or `closed`. Throws `cancelled` when the task is; the next
    /// read then finds every byte that this one did not return.
    public func read() async throws(ByteStreamError) -> [UInt8] { try await loop.read() }

    /// Whatever has arrived, without waiting.
    public func readAvailable() -> [UInt8] { loop.readAvailable() }

    /// Hands all bytes to the kernel, waiting while it has no room; writes go out one after the other, in the order of their calls.
    ///
    /// Throws `timedOut` when `limit` is over first, `cancelled` when the task is, `lost`, or `closed`. Some of the bytes may have
    /// gone out then: what belongs together has to be closed, or the protocol above has to notice.
    ///
    /// - Parameter limit: nil to wait as long as the stream is open.
    public func write(_ bytes: [UInt8], within limit: Duration? = nil) async throws(ByteStreamError) {
        try await loop.write(bytes, within: limit)
    }

    /// Closes the stream, and returns when the descriptor was given back: within 255 ms, which a terminal's last bytes may take.
    /// Reads and writes under way throw `closed`. Closing twice is harmless.
    public func close() async { await loop.close() }
}

/// Opens a connection to a server, over which the caller then speaks a protocol of its own.
public protocol StreamOpener: Sendable {
    /// Connects, and for `https` opens a secure channel whose certificate has been verified.
    ///
    /// - Parameters:
    ///   - url: `https` or `http`; its path and query are not sent.
    ///   - limit: for everything, the lookup of the name too.
    /// - Throws: `notFound`, `refused`, `unreachable`, `untrusted`, `timedOut`, `cancelled` or `failed`.
    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream
}

/// A connected socket whose bytes pass through a layer above it, such as TLS.
///
/// A ``ByteStream`` calls it on one thread, one call at a time, and polls its descriptor between them.
public protocol LayeredSocket: Sendable {
    /// The socket; it does not change.
    var descriptor: Int32 { get }

    /// Reads what is there, as `recv(2)` on a socket that does not block: the number of bytes, 0 at the end, or -1 and `errno`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int

    /// Sends what there is room for, as `send(2)` on a socket that does not block: the number of bytes, or -1 and `errno`.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Closes the socket, once.
    func close()
}

/// Why a byte stream could not be opened, or does not go on.
public struct ByteStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `timedOut`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case notFound, refused, unreachable, untrusted, timedOut, ended, lost, closed, cancelled, failed
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// On opening: the host's name has no address.
        public static let notFound = Code(value: .notFound)
        /// On opening: the host is there, and nothing listens at that port.
        public static let refused = Code(value: .refused)
        /// On opening: there is no route to the host.
        public static let unreachable = Code(value: .unreachable)
        /// On opening: the server's certificate is not trusted, or no secure channel came about.
        public static let untrusted = Code(value: .untrusted)
        /// The time was over: on opening, or before a write was taken.
        public static let timedOut = Code(value: .timedOut)
        /// On reading: the other side sends no more, and everything that it had sent was read.
        public static let ended = Code(value: .ended)
        /// The connection broke.
        public static let lost = Code(value: .lost)
        /// This side closed the stream.
        public static let closed = Code(value: .closed)
        /// The task was cancelled, or another reader has taken the place of this one.
        public static let cancelled = Code(value: .cancelled)
        /// The system refused for another reason, which the message names.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// Who is at the other end: `host:port`, or a path.
    public var peer: String
    /// What happened and what to try.
    public var message: String
    /// The system's error number, where there was one.
    public var systemError: Int32?

    public init(_ code: Code, peer: String, message: String, systemError: Int32? = nil) {
        self.code = code
        self.peer = peer
        self.message = message
        self.systemError = systemError
    }

    public var description: String { "\(code): \(message) (\(peer))" }
}
