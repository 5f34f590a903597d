// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// How SPiD names users.
enum SPiDUser {
    /// The user whom a token is for; nil for a token that is the client's own, where SPiD writes `false`, `0` or nothing.
    static func userID(_ json: JSONValue?) -> UserID? {
        let text: String? = json?.string ?? json?.integer.map { "\($0)" }
        guard let text, !text.isEmpty, text != "0", text.utf8.count <= 64,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D })
        else { return nil }
        return UserID(text)
    }
}
