// SPDX-License-Identifier: Apache-2.0
import RainCrypto

extension SignatureScheme {
    /// As tokens and key sets spell it (RFC 7518, section 3.1). Not the type's raw value: comparing text takes tables of Unicode that no board
    /// has, and RainCrypto is compiled for boards, too.
    package var name: String {
        switch self {
        case .rs256: "RS256"
        case .es256: "ES256"
        case .ps256: "PS256"
        }
    }

    /// Nil for names of others.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
