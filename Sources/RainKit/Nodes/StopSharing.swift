// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

extension RainKitClient {
    /// Ends the sharing of nodes or groups with a user, and checks that the user does not have them any more.
    ///
    /// A group that is shared as a part of another group stays with the user, although the cloud reports success.
    ///
    /// - Parameters:
    ///   - ids: of nodes or groups.
    ///   - userName: the other user's e-mail address or telephone number. With their own name, users leave what is shared with them.
    /// - Throws: `RainKitError`: `still_shared` if the user keeps them by a group around them; `unknown_user` if nobody has that name; the cloud's
    ///   refusals.
    public func stopSharing(_ kind: SharedKind, _ ids: [String], with userName: String) async throws {
        let kept = try await asking { cloud throws(AccountError) in
            try await cloud.stopSharing(kind, ids, with: userName)
            return try await Self.kept(kind, ids, by: userName, cloud)
        }
        guard kept.isEmpty else {
            throw RainKitError(
                .request(.other, reason: "still_shared"),
                message:
                    "\(userName.onOneLine) still has \(kept.joined(separator: ", ").onOneLine) through a shared group that contains it.",
                remedies: [.sharedGroups])
        }
    }

    /// The ids that the user still has. An id that the cloud refuses to show is gone.
    private static func kept(
        _ kind: SharedKind, _ ids: [String], by user: String, _ cloud: RainMakerCloud
    ) async throws(AccountError) -> [String] {
        var kept: [String] = []
        do throws(AccountError) {
            for id in ids {
                for holder in try await holders(of: id, kind, cloud) where kept.last != id {
                    let shared = try await sharing(kind, of: holder, cloud).filter { $0.id == holder }
                    let users = shared.flatMap { $0.primaryUsers + $0.secondaryUsers }
                    if users.contains(where: { $0.lowercased() == user.lowercased() }) { kept.append(id) }
                }
            }
        } catch {
            var unknown = error
            unknown.message =
                "the cloud has ended the sharing, but did not show whether \(user.onOneLine) still has it through a group: \(error.message)"
            throw unknown
        }
        return kept
    }

    private static func sharing(
        _ kind: SharedKind, of id: String, _ cloud: RainMakerCloud
    ) async throws(AccountError) -> [Sharing] {
        do throws(AccountError) { return try await cloud.sharing(kind, of: id) } catch {
            guard error.isRefusal else { throw error }
            return []
        }
    }

    /// The node or group itself, and the groups around it: who shares one of these has it.
    private static func holders(
        of id: String, _ kind: SharedKind, _ cloud: RainMakerCloud
    ) async throws(AccountError) -> [String] {
        func path(in groups: [NodeGroup]) -> [String]? {
            for group in groups {
                if group.id == id { return [id] }
                if let inner = path(in: group.subgroups ?? []) { return [group.id] + inner }
            }
            return nil
        }
        guard kind == .groups else { return [id] }
        return path(in: try await cloud.groups(withSubgroups: true)) ?? [id]
    }
}
