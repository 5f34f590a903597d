// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

extension QRPayload {
    /// How a code's text is written.
    public enum Form: Sendable, Equatable {
        /// A JSON object, which every app and client reads.
        case json
        /// `NP:name|pop|b`, of firmware since 2025: a smaller code. It has no place for another user name than the usual one.
        case compact
        /// RainMaker's page with the JSON object behind `data=`, for cameras that only open addresses.
        case url
    }

    /// The text of a code for a board, as its firmware prints it: RainMaker's `app_network.c` and ESP-IDF's `wifi_prov`.
    ///
    /// - Parameters:
    ///   - proof: nil for a board that wants none.
    ///   - username: of Security 2; nil for Security 1.
    /// - Throws: `invalidArgument` for an empty name, for values that the form has no place for, and for more than ``maximumBytes``.
    public static func text(
        name: String, proof: ProofOfPossession?, transport: Transport, username: String? = nil, form: Form = .json
    ) throws(ProvisioningError) -> Secret {
        guard !name.isEmpty else { throw impossible("a board has a name") }
        let text: [UInt8]
        switch form {
        case .compact:
            guard !name.utf8.contains(UInt8(ascii: "|")) else {
                throw impossible("the compact form has no name with a bar in it")
            }
            guard [nil, BoardCredentials.defaultUsername].contains(username) else {
                throw impossible("the compact form has no user name but \(BoardCredentials.defaultUsername)")
            }
            text =
                Array("NP:\(name)|".utf8) + (proof?.secret.revealBytes() ?? []) + Array("|\(transport.letter)".utf8)
        case .json, .url:
            var members: [JSONValue.Member] = [.init("ver", "v1"), .init("name", .string(name))]
            if let username { members.append(.init("username", .string(username))) }
            if let proof { members.append(.init("pop", .string(proof.secret.revealString()))) }
            members.append(.init("transport", .string(transport.rawValue)))
            let json = JSONValue.object(members).serialized()
            text = form == .url ? Array(page.utf8) + json : json
        }
        guard text.count <= maximumBytes else { throw impossible("it is longer than a board's code") }
        return Secret(text)
    }

    private static let page = "https://rainmaker.espressif.com/qrcode.html?data="

    private static func impossible(_ why: String) -> ProvisioningError {
        ProvisioningError(.invalidArgument, message: "No QR code can be made: \(why).")
    }
}

extension QRPayload.Transport {
    /// As the compact form has it.
    fileprivate var letter: String {
        switch self {
        case .ble: "b"
        case .softap: "s"
        }
    }
}
