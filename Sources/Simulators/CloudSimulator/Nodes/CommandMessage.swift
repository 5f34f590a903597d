// SPDX-License-Identifier: Apache-2.0
/// A command to a node, or its answer: type, length and value, a byte each for type and length (`esp_rmaker_cmd_resp.c` of RainMaker's common
/// component). A value of more than 255 bytes continues in the next element of its type.
struct CommandMessage: Equatable {
    private enum Kind: UInt8 { case requestID = 1, role, status, timestamp, command, data }

    /// Who commands, as firmware checks it.
    enum Role: UInt8 { case primary = 2, secondary = 4 }

    var requestID = ""
    var role: Role?
    var status: UInt8?
    var command: UInt16 = 0
    var data: [UInt8] = []

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ kind: Kind, _ value: some Collection<UInt8>) {
            var rest = value[...]
            repeat {
                let piece = rest.prefix(255)
                bytes += [kind.rawValue, UInt8(piece.count)] + piece
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        add(.requestID, Array(requestID.utf8))
        if let role { add(.role, [role.rawValue]) }
        if let status { add(.status, [status]) }
        add(.command, [UInt8(truncatingIfNeeded: command), UInt8(command >> 8)])
        if !data.isEmpty { add(.data, data) }
        return bytes
    }

    init() {}

    /// Nil for what ends within an element, or names no request.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let kind = rest.popFirst(), let length = rest.popFirst(), rest.count >= length else { return nil }
            let value = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            switch Kind(rawValue: kind) {
            case .requestID: requestID += String(decoding: value, as: UTF8.self)
            case .role: role = value.first.flatMap { Role(rawValue: $0) }
            case .status: status = value.first
            case .command:
                guard value.count == 2, let low = value.first, let high = value.last else { return nil }
                command = UInt16(high) << 8 | UInt16(low)
            case .data: data += value
            case .timestamp, nil: break
            }
        }
        guard !requestID.isEmpty else { return nil }
    }
}
