// SPDX-License-Identifier: Apache-2.0
import CRainKit
import Glibc
import RainKit

extension rainkit_string {
    /// No argument needs more. A longer one is a length that was not set.
    private static let maximumBytes = 1 << 20

    /// The bytes. Throws `usage` for a NULL pointer with a length, and for more than 1 MiB.
    var bytes: [UInt8] {
        get throws(CallError) {
            guard length > 0 else { return [] }
            guard let data, length <= Self.maximumBytes else { throw .usage }
            return Array(UnsafeRawBufferPointer(start: data, count: length))
        }
    }

    /// The text; nil if it is empty. Throws `usage` also for bytes that are not UTF-8, and for text with a NUL.
    var text: String? {
        get throws(CallError) {
            let bytes = try bytes
            guard !bytes.isEmpty else { return nil }
            guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { throw .usage }
            return text
        }
    }

    /// The text, which must not be empty.
    var requiredText: String {
        get throws(CallError) {
            guard let text = try text else { throw .usage }
            return text
        }
    }

    /// A secret; nil if it is empty.
    var secret: RainKitSecret? {
        get throws(CallError) {
            let bytes = try bytes
            return bytes.isEmpty ? nil : RainKitSecret(bytes)
        }
    }

    /// A secret that must not be empty.
    var requiredSecret: RainKitSecret {
        get throws(CallError) {
            guard let secret = try secret else { throw .usage }
            return secret
        }
    }

    /// A string of the library that is valid for ever.
    init(constant text: StaticString) {
        self.init(
            data: UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), length: text.utf8CodeUnitCount)
    }
}

/// A copy of a text for C, with a NUL at its end. It is `@unchecked` because the memory never changes after `init`.
struct CText: ~Copyable, @unchecked Sendable {
    private let memory: UnsafeMutablePointer<CChar>
    private let length: Int

    init(_ text: String) {
        let utf8 = text.utf8
        length = utf8.count
        memory = .allocate(capacity: length + 1)
        var next = 0
        for byte in utf8 {
            memory[next] = CChar(bitPattern: byte)
            next += 1
        }
        memory[length] = 0
    }

    deinit { memory.deallocate() }

    var string: rainkit_string { rainkit_string(data: UnsafePointer(memory), length: length) }
}

/// Copies bytes into a caller's buffer, with a NUL at the end. Throws `badData` if they do not fit; the length is set anyway.
func copy(
    _ bytes: UnsafeRawBufferPointer, to buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) throws(CallError) {
    length?.pointee = bytes.count
    guard let buffer else { throw capacity == 0 ? .badData : .usage }
    guard capacity > bytes.count else {
        if capacity > 0 { buffer.pointee = 0 }
        throw .badData
    }
    UnsafeMutableRawPointer(buffer).copyMemory(
        from: bytes.baseAddress ?? UnsafeRawPointer(buffer), byteCount: bytes.count)
    buffer[bytes.count] = 0
}

extension UnsafePointer {
    /// Reads options whose structure may be that of an older or a newer header. Members that it lacks are zero.
    ///
    /// The first member is the size of the caller's structure.
    func options(else empty: Pointee) throws(CallError) -> Pointee {
        let given = UnsafeRawPointer(self).loadUnaligned(as: Int.self)
        // A size of zero is a structure that was never initialised.
        guard (MemoryLayout<Int>.size...1 << 16).contains(given) else { throw .usage }
        var result = empty
        withUnsafeMutableBytes(of: &result) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: self, count: Swift.min(given, bytes.count)))
        }
        return result
    }
}

extension rainkit_event {
    /// No event. Its strings are empty and not NULL, so that a host that does not look at the code can print them.
    static func none(_ code: Int32 = 0) -> rainkit_event {
        let empty = rainkit_string(constant: "")
        return rainkit_event(
            size: MemoryLayout<rainkit_event>.size, kind: Int32(RAINKIT_EVENT_NONE), code: code, dropped: 0,
            name: empty, document: empty, reason: empty, message: empty, remedy: empty, step: empty)
    }
}

extension CallError {
    /// Runs the body of a function that reads an event, and returns its number. A refused call clears the event, because the strings of an
    /// earlier one may be gone.
    static func number(
        _ event: UnsafeMutablePointer<rainkit_event>?, _ body: () throws(CallError) -> Void
    ) -> Int32 {
        let code = number(body)
        if code != 0, let event, (try? event.check()) != nil { event.store(.none(code)) }
        return code
    }
}

extension UnsafeMutablePointer<rainkit_event> {
    /// The size of the structure in the first version of the header. No caller has a smaller one.
    private static var minimumSize: Int { 120 }

    /// Throws `usage` for a structure that was never initialised.
    func check() throws(CallError) {
        guard pointee.size >= Self.minimumSize else { throw .usage }
    }

    /// Stores an event in a caller's structure, which may be that of an older header.
    func store(_ event: rainkit_event) {
        let size = pointee.size
        var event = event
        event.size = size
        withUnsafeBytes(of: &event) { bytes in
            UnsafeMutableRawPointer(self).copyMemory(
                from: bytes.baseAddress ?? UnsafeRawPointer(self), byteCount: Swift.min(size, bytes.count))
        }
    }
}
