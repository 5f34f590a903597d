// SPDX-License-Identifier: Apache-2.0

/// The opening handshake of a WebSocket that carries MQTT (RFC 6455, 4.1; MQTT 3.1.1, 6).
struct WebSocketUpgrade {
    /// The request, as it is sent.
    let request: [UInt8]
    private let expectedAccept: String
    private var head: [UInt8] = []

    /// The longest answer that is accepted.
    static let maximumHeadBytes = 16 << 10
    /// RFC 6455, 1.3.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// - Parameters:
    ///   - target: path and query.
    ///   - host: as the `Host` header has it.
    ///   - key: 16 random bytes in base64.
    ///   - accept: what the server has to answer to a key: the SHA-1 of its bytes, in base64.
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
    /// - Returns: what followed the answer; nil while it is not whole.
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
            throw MQTTError(isRefusal ? .refused : .unreachable, "the server answers HTTP \(code)")
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
        // Nothing that was not offered may be agreed on (RFC 6455, 4.1).
        guard header("sec-websocket-extensions") == nil else {
            throw MQTTError(.malformed, "the server uses a WebSocket extension that was not offered")
        }
    }
}
