// SPDX-License-Identifier: Apache-2.0

/// How `login` ends well: somebody is signed in, or a code was sent with which a later command goes on.
enum LoginResult: CommandResult {
    case signedIn(SignedInResult)
    case waitsForCode(SignInPendingResult)

    var text: String {
        switch self {
        case .signedIn(let result): result.text
        case .waitsForCode(let result): result.text
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .signedIn(let result): try result.encode(to: encoder)
        case .waitsForCode(let result): try result.encode(to: encoder)
        }
    }
}
