import Glibc
import RainJSON
import RainKit

/// A stored session as people and scripts are shown it: no secrets.
struct SessionReport {
    let account: SessionAccess
    let status: SessionStatus
    private let now = SystemWallClock().now

    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("profile", .string(account.name)),
            .init("base_url", .string(account.base)),
            .init("provider", .string(status.provider)), .init("user_name", .string(status.userName)),
            .init("user_id", .string(status.userID.rawValue)), .init("store", .string(account.store.kind)),
        ]
        if let name = account.store.account { members.append(.init("account", .string(name))) }
        if let path = account.store.path { members.append(.init("store_path", .string(path))) }
        members.append(.init("received_at", .string(Timestamp.text(status.received))))
        if let expires = status.expires {
            members.append(.init("expires_at", .string(Timestamp.text(expires))))
            members.append(.init("expires_in", .integer(seconds(until: expires))))
        }
        members.append(.init("expired", .bool(status.hasExpired)))
        members.append(.init("renewable", .bool(status.isRenewable)))
        return members
    }

    var text: String {
        let renewal = status.isRenewable ? "renewed when needed" : "cannot be renewed: sign in again then"
        return """
            \(status.userName.onOneLine)
            user id: \(status.userID.rawValue.onOneLine)
            profile: \(account.name) (\(account.base))
            store: \(account.store.kind)\(account.store.path.map { ", \($0)" } ?? "")
            access token: \(validity); \(renewal)
            """
    }

    /// `until …` or `expired since …`.
    var validity: String {
        guard let expires = status.expires else { return "without a stated end" }
        return "\(status.hasExpired ? "expired since" : "until") \(Timestamp.text(expires))"
    }

    private func seconds(until end: UnixTime) -> Int64 {
        Int64(min(max(end.seconds - now.seconds, -1e15), 1e15).rounded(.down))
    }
}

extension Timestamp {
    static func text(_ time: UnixTime) -> String {
        // What a calendar of four digits can show; a stored number may be anything.
        let seconds = min(max(time.seconds, 0), 253_402_300_799)
        return text(timespec(tv_sec: Int(seconds), tv_nsec: 0))
    }
}
