// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The node's commands: type, length and value, a byte each for type and length (`esp_rmaker_cmd_resp.c` of RainMaker's common component). It has
/// one command, which answers with what it was sent, as `ESP_RMAKER_CMD_CUSTOM_START` does in RainMaker's example.
enum NodeCommands {
    private enum Kind: UInt8 { case requestID = 1, role, status, timestamp, command, data }
    private static let echo: UInt16 = 0x1000
    private enum Status: UInt8 { case success, failed, invalid, refused, notFound }

    /// The answer; nil for what cannot be read.
    static func answer(to message: [UInt8]) -> [UInt8]? {
        var (request, role, command, data): ([UInt8], UInt8, UInt16, [UInt8]) = ([], 0, 0, [])
        var rest = message[...]
        while !rest.isEmpty {
            guard let kind = rest.popFirst(), let length = rest.popFirst(), rest.count >= length else { return nil }
            let value = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            switch Kind(rawValue: kind) {
            case .requestID: request += value
            case .role: role = value.first ?? 0
            case .command where value.count == 2: command = UInt16(value.last!) << 8 | UInt16(value.first!)
            case .data: data += value
            default: break
            }
        }
        // Firmware keeps 31 bytes of an id.
        guard request.count < 32 else { return nil }
        let status: Status =
            request.isEmpty || role == 0 || command == 0 ? .invalid : command == echo ? .success : .notFound
        var answer: [UInt8] = []
        func add(_ kind: Kind, _ value: [UInt8]) {
            var rest = value[...]
            repeat {
                let piece = rest.prefix(255)
                answer += [kind.rawValue, UInt8(piece.count)] + piece
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        if !request.isEmpty { add(.requestID, request) }
        add(.status, [status.rawValue])
        add(.command, [UInt8(truncatingIfNeeded: command), UInt8(command >> 8)])
        if status == .success, !data.isEmpty { add(.data, data) }
        return answer
    }
}
