// SPDX-License-Identifier: Apache-2.0

/// Which security session a request belongs to, by the rules of `protocomm_httpd.c`: one session, kept by a cookie or by
/// the connection that began it.
struct HTTPSessions {
    /// The buffer for the cookie's value holds 20 bytes, its NUL included. A longer one counts as none.
    static let cookieLimit = 19

    private(set) var current: UInt32?
    private var owner: Int?

    enum Decision: Equatable {
        case same(UInt32)
        case new(UInt32)
    }

    /// - Parameters:
    ///   - connection: a number that no other connection has.
    ///   - newID: what a new session would be called.
    mutating func session(cookie: [UInt8]?, connection: Int, newID: () -> UInt32) -> Decision {
        if let cookie, cookie.count <= Self.cookieLimit {
            if let current, cookie == Array("session=\(current)".utf8) {
                // From here on the cookie counts, and the connection no longer does.
                owner = nil
                return .same(current)
            }
        } else if let current, owner == connection {
            return .same(current)
        }
        let id = newID()
        current = id
        owner = connection
        return .new(id)
    }
}
