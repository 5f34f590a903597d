// SPDX-License-Identifier: Apache-2.0

/// What a stream's callers and its thread share.
struct StreamState {
    typealias Reader = Waiter<Result<[UInt8], ByteStreamError>>
    typealias Writer = Waiter<ByteStreamError?>

    struct PendingWrite {
        var bytes: [UInt8]
        var position = 0
        var deadline: MonotonicDeadline?
        let writer: Writer
    }

    private(set) var input: [UInt8] = []
    var reader: Reader?
    var writes: [PendingWrite] = []
    /// Why nothing more will arrive.
    var inputEnd: ByteStreamError?
    /// Why nothing more can be sent.
    var outputEnd: ByteStreamError?
    var isClosing = false
    /// The descriptor is closed.
    var isFinished = false
    var closers: [Waiter<Void>] = []

    var isInputFull: Bool { input.count >= ByteStream.inputCapacity }

    mutating func takeInput() -> [UInt8] {
        defer { input = [] }
        return input
    }

    /// - Parameter dropsOldest: whether the oldest bytes go when there are more than the capacity.
    /// - Returns: whose read it ends, and with what.
    mutating func append(_ bytes: ArraySlice<UInt8>, dropsOldest: Bool) -> (Reader, [UInt8])? {
        input += bytes
        if dropsOldest, input.count > ByteStream.inputCapacity {
            input.removeFirst(input.count - ByteStream.inputCapacity)
        }
        guard let reader else { return nil }
        self.reader = nil
        return (reader, takeInput())
    }

    /// - Returns: whose read it ends.
    mutating func endInput(_ error: ByteStreamError) -> Reader? {
        inputEnd = inputEnd ?? error
        defer { reader = nil }
        return reader
    }

    /// - Returns: whose writes it ends.
    mutating func endOutput(_ error: ByteStreamError) -> [Writer] {
        outputEnd = outputEnd ?? error
        defer { writes = [] }
        return writes.map(\.writer)
    }

    /// - Returns: whose time is over.
    mutating func expireWrites() -> [Writer] {
        let expired = writes.filter { $0.deadline?.isOver ?? false }.map(\.writer)
        if !expired.isEmpty { writes.removeAll { write in expired.contains { $0 === write.writer } } }
        return expired
    }
}
