// SPDX-License-Identifier: Apache-2.0

/// Sends and receives bytes over one descriptor: a connected socket, or a terminal.
///
/// The stream always reads, also while no caller reads, so that it notices the end of the connection at once. It keeps up to
/// ``inputCapacity`` bytes. Beyond that it stops reading a socket, which makes the other side wait. The other side of a terminal cannot
/// wait, so the stream drops the oldest bytes.
///
/// One thread serves the stream with `poll(2)`. All methods may be called from any task at any time.
public final class ByteStream: Sendable {
    /// Bytes that are kept for a late reader: some seconds of a board's log at 115,200 baud.
    public static let inputCapacity = 1 << 16

    private let loop: StreamLoop

    private init(_ loop: StreamLoop) { self.loop = loop }

    /// A stream without owners closes itself.
    deinit { loop.requestClose() }

    /// Makes a stream of a connected stream socket. The socket is closed with the stream, or at once if this throws `failed`.
    ///
    /// - Parameter peer: the name of the other end, for errors.
    public static func socket(_ descriptor: Int32, peer: String) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.socket(descriptor), peer: peer))
    }

    /// Makes a stream of a socket with a layer above it.
    public static func socket(_ socket: any LayeredSocket, peer: String) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.layered(socket), peer: peer))
    }

    /// Makes a stream of a terminal.
    ///
    /// - Parameter close: closes the descriptor, on the stream's thread. Its argument says whether bytes remained unsent.
    package static func terminal(
        _ descriptor: Int32, peer: String, close: @escaping @Sendable (_ hasUnsent: Bool) -> Void
    ) throws(ByteStreamError) -> ByteStream {
        ByteStream(try StreamLoop.start(.terminal(descriptor, close: close), peer: peer))
    }

    /// Returns the next bytes, at least one. There is one reader at a time: a second reader replaces the first, which throws `cancelled`.
    ///
    /// Throws `ended`, `lost` or `closed` once all received bytes were read. Throws `cancelled` if the task is cancelled; the next read
    /// then returns every byte that this one did not return.
    public func read() async throws(ByteStreamError) -> [UInt8] { try await loop.read() }

    /// Returns the received bytes without waiting.
    public func readAvailable() -> [UInt8] { loop.readAvailable() }

    /// Passes all bytes to the kernel and waits while the kernel has no space. Writes are sent one after the other, in the order of their
    /// calls.
    ///
    /// Throws `timedOut` when `limit` is over, `cancelled` if the task is cancelled, `lost`, or `closed`. Some of the bytes may have been
    /// sent then: close the stream, or let the protocol above detect the gap.
    ///
    /// - Parameter limit: nil to wait as long as the stream is open.
    public func write(_ bytes: [UInt8], within limit: Duration? = nil) async throws(ByteStreamError) {
        try await loop.write(bytes, within: limit)
    }

    /// Closes the stream and returns when the descriptor is closed: within 255 ms, which a terminal's last bytes may take. Pending reads
    /// and writes throw `closed`. Closing twice is harmless.
    public func close() async { await loop.close() }
}

/// Opens a connection to a server, for a caller that then speaks its own protocol.
public protocol StreamOpener: Sendable {
    /// Connects. For `https`, opens a secure channel and verifies the certificate.
    ///
    /// - Parameters:
    ///   - url: `https` or `http`; its path and query are not sent.
    ///   - limit: for everything, including the name lookup.
    /// - Throws: `notFound`, `refused`, `unreachable`, `untrusted`, `timedOut`, `cancelled` or `failed`.
    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream
}

/// A connected socket whose bytes pass through a layer above it, such as TLS.
///
/// A ``ByteStream`` calls its methods on one thread, one call at a time, and polls its descriptor between them.
public protocol LayeredSocket: Sendable {
    /// The socket; it does not change.
    var descriptor: Int32 { get }

    /// Reads the available bytes, like `recv(2)` on a non-blocking socket: returns the number of bytes, 0 at the end, or -1 and `errno`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int

    /// Sends as many bytes as fit, like `send(2)` on a non-blocking socket: returns the number of bytes, or -1 and `errno`.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Closes the socket. Called once.
    func close()
}

/// Why a byte stream could not be opened or has ended.
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
        /// On opening: the host answers, but nothing listens at that port.
        public static let refused = Code(value: .refused)
        /// On opening: there is no route to the host.
        public static let unreachable = Code(value: .unreachable)
        /// On opening: the server's certificate is not trusted, or the TLS handshake failed.
        public static let untrusted = Code(value: .untrusted)
        /// The time was over: on opening, or before the kernel accepted all bytes of a write.
        public static let timedOut = Code(value: .timedOut)
        /// On reading: the other side has closed its end, and all its bytes were read.
        public static let ended = Code(value: .ended)
        /// The connection broke.
        public static let lost = Code(value: .lost)
        /// This side closed the stream.
        public static let closed = Code(value: .closed)
        /// The task was cancelled, or another reader has replaced this one.
        public static let cancelled = Code(value: .cancelled)
        /// The system refused for another reason, which the message names.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The other end: `host:port`, or a path.
    public var peer: String
    /// What happened and what to try.
    public var message: String
    /// The system's error number, if there was one.
    public var systemError: Int32?

    public init(_ code: Code, peer: String, message: String, systemError: Int32? = nil) {
        self.code = code
        self.peer = peer
        self.message = message
        self.systemError = systemError
    }

    public var description: String { "\(code): \(message) (\(peer))" }
}
