// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// RFC 7617: a name and a password in the `Authorization` header, as they are. (OAuth 2.0 escapes both halves first; portals do not.)
enum BasicAuthorization {
    static func value(user: String, password: Secret) -> Secret {
        var pair = Array(user.utf8)
        pair.append(UInt8(ascii: ":"))
        password.reveal { pair += $0 }
        defer { for index in pair.indices { pair[index] = 0 } }
        return Secret("Basic ".utf8 + Base64.encoded(pair))
    }
}
