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
