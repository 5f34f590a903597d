// SPDX-License-Identifier: Apache-2.0
import RainKit

/// A code that was drawn. The document has no secret in it.
struct QRShowResult: CommandResult {
    let name: String
    let png: String?
    let svg: String?
    /// On each side, without the quiet zone.
    let modules: Int
    var drawing: String?

    private enum CodingKeys: String, CodingKey { case name, png, svg, modules }

    var text: String { drawing ?? "" }
}

/// What the codes in a picture say.
struct QRReadResult: CommandResult {
    struct Entry: Encodable, Sendable {
        let payload: String
        /// Of a board's code.
        let name: String?
        let transport: String?
        let username: String?
        let security: Int?
    }

    let codes: [Entry]

    init(_ payloads: [[UInt8]]) {
        codes = payloads.map { bytes in
            let board = try? QRPayload(bytes)
            return Entry(
                payload: String(decoding: bytes, as: UTF8.self), name: board?.name,
                transport: board?.transport?.rawValue, username: board?.username, security: board?.securityVersion)
        }
    }

    var text: String { codes.map(\.payload.withoutControls).joined(separator: "\n") }
}
