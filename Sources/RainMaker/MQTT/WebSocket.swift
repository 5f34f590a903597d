// SPDX-License-Identifier: Apache-2.0

/// The opening handshake of a WebSocket that carries MQTT (RFC 6455, 4.1; MQTT 3.1.1, 6).
struct WebSocketUpgrade {
    /// The bytes of the request.
    let request: [UInt8]
    private let expectedAccept: String
    private var head: [UInt8] = []

    /// The maximum size in bytes of the answer's headers.
    static let maximumHeadBytes = 16 << 10
    /// The suffix that RFC 6455, 1.3, defines for the key.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// - Parameters:
    ///   - target: path and query.
    ///   - host: the value of the `Host` header.
    ///   - key: 16 random bytes in base64.
    ///   - accept: computes the server's answer to a key: the SHA-1 of its bytes, in base64.
    init(target: String, host: String, key: String, accept: (_ text: [UInt8]) -> String) {
        request = Array(
            """
            GET \(target) HTTP/1.1\r
            Host: \(host)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: mqtt\r
            User-Agent: RainKit\r
            \r

            """.utf8)
        expectedAccept = accept(Array((key + Self.suffix).utf8))
    }

    /// Takes bytes of the answer.
    /// - Returns: the bytes that follow the answer's headers; nil while the headers are incomplete.
    mutating func receive(_ bytes: [UInt8]) throws(MQTTError) -> [UInt8]? {
        let start = max(0, head.count - 3)
        head += bytes
        let end = head.indices[start...].first {
            $0 + 4 <= head.count && head[$0..<$0 + 4].elementsEqual("\r\n\r\n".utf8)
        }
        guard (end ?? head.count) <= Self.maximumHeadBytes else {
            throw MQTTError(.malformed, "the server's answer has more than \(Self.maximumHeadBytes) bytes of headers")
        }
        guard let end else { return nil }
        try check(String(decoding: head[..<end], as: UTF8.self))
        return Array(head[(end + 4)...])
    }

    private func check(_ head: String) throws(MQTTError) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let status = lines.first.map { $0.split(separator: " ") } ?? []
        guard status.count >= 2, status[0].hasPrefix("HTTP/1."), let code = Int(status[1]) else {
            throw MQTTError(.malformed, "the server's answer is not HTTP")
        }
        guard code == 101 else {
            // AWS IoT refuses a signature that is wrong or too old with 403.
            let isRefusal = code == 401 || code == 403
            throw MQTTError(isRefusal ? .refused : .unreachable, "the server answered with HTTP \(code)")
        }
        func header(_ name: String) -> String? {
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, parts[0].lowercased() == name else { continue }
                return parts[1].drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }
                    .reversed().map(String.init).joined()
            }
            return nil
        }
        guard header("upgrade")?.lowercased() == "websocket",
            header("connection")?.lowercased().contains("upgrade") == true,
            header("sec-websocket-accept") == expectedAccept
        else { throw MQTTError(.malformed, "the server does not confirm the WebSocket") }
        guard header("sec-websocket-protocol") == "mqtt" else {
            throw MQTTError(.malformed, "the server's WebSocket does not carry MQTT")
        }
        // The server must not choose an extension that the client did not offer (RFC 6455, 4.1).
        guard header("sec-websocket-extensions") == nil else {
            throw MQTTError(.malformed, "the server uses a WebSocket extension that was not offered")
        }
    }
}

/// The client's frames (RFC 6455, 5.2).
enum WebSocketFrame {
    enum Opcode: UInt8 { case continuation = 0, text, binary, close = 8, ping, pong }

    /// Returns an unfragmented frame, masked as clients must (5.3).
    /// - Parameter mask: four random bytes.
    static func encoded(_ opcode: Opcode, _ payload: [UInt8], mask: [UInt8]) -> [UInt8] {
        var bytes = [0x80 | opcode.rawValue]
        switch payload.count {
        case ...125: bytes.append(0x80 | UInt8(payload.count))
        case ...0xFFFF: bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(0x80 | 127)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(payload.count) >> (56 - 8 * UInt64($0))) }
        }
        bytes += mask
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ mask[index % 4]) }
        return bytes
    }
}

/// Reads a server's frames from any split of their bytes. Data is passed on as it arrives, because MQTT ignores the boundaries of frames
/// (MQTT 3.1.1, 6).
struct WebSocketFrameReader {
    enum Event: Equatable {
        /// The payload of data frames, or a part of it.
        case data([UInt8])
        /// A ping. Answer it with a pong that has the same payload.
        case ping([UInt8])
        case close
    }

    /// The largest frame that is accepted. AWS IoT's messages have at most 128 KiB.
    private static let maximumPayload = 1 << 20

    private var pending: [UInt8] = []
    /// The number of bytes that are missing in a data frame's payload.
    private var left = 0
    private var isWithinMessage = false
    private var isClosed = false

    /// Takes bytes, and returns the events that they complete.
    mutating func receive(_ bytes: [UInt8]) throws(MQTTError) -> [Event] {
        pending += bytes
        var events: [Event] = []
        var position = 0
        while !isClosed {
            if left > 0 {
                let part = pending[position...].prefix(left)
                guard !part.isEmpty else { break }
                events.append(.data(Array(part)))
                left -= part.count
                position += part.count
                continue
            }
            guard let (event, used) = try frame(pending[position...]) else { break }
            position += used
            if let event { events.append(event) }
        }
        pending.removeFirst(position)
        return events
    }

    /// - Returns: nil while the frame is incomplete. Of a data frame only the header is consumed.
    private mutating func frame(_ bytes: ArraySlice<UInt8>) throws(MQTTError) -> (event: Event?, used: Int)? {
        guard bytes.count >= 2 else { return nil }
        let start = bytes.startIndex
        let (first, second) = (bytes[start], bytes[start + 1])
        guard first & 0x70 == 0, let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw MQTTError(.malformed, "the server sent an unknown WebSocket opcode")
        }
        guard second & 0x80 == 0 else {
            throw MQTTError(.malformed, "the server masks its WebSocket frames, which is not allowed")
        }
        let isLast = first & 0x80 != 0
        let lengthBytes = second == 126 ? 2 : second == 127 ? 8 : 0
        guard bytes.count >= 2 + lengthBytes else { return nil }
        let long = bytes[(start + 2)...].prefix(lengthBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let length = lengthBytes == 0 ? UInt64(second) : long
        guard length <= UInt64(Self.maximumPayload) else {
            throw MQTTError(.malformed, "the server sent a WebSocket frame of more than \(Self.maximumPayload) bytes")
        }
        let (head, size) = (2 + lengthBytes, Int(length))
        switch opcode {
        case .binary, .continuation:
            guard (opcode == .continuation) == isWithinMessage else {
                throw MQTTError(.malformed, "the server sent an unexpected WebSocket frame")
            }
            isWithinMessage = !isLast
            left = size
            return (nil, head)
        case .text: throw MQTTError(.malformed, "the server sent a WebSocket text frame, but MQTT uses binary frames")
        case .close, .ping, .pong:
            guard isLast, size <= 125 else {
                throw MQTTError(.malformed, "the server sent a WebSocket control frame that is too long or in parts")
            }
            guard bytes.count >= head + size else { return nil }
            let payload = Array(bytes[(start + head)..<(start + head + size)])
            if opcode == .close { isClosed = true }
            return (opcode == .close ? .close : opcode == .ping ? .ping(payload) : nil, head + size)
        }
    }
}
