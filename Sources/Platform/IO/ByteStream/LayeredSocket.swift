// SPDX-License-Identifier: Apache-2.0

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
