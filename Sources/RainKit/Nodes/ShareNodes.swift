// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

extension RainKitClient {
    /// Offers nodes or groups to another user, who has seven days to accept.
    ///
    /// With nodes the invitation has the names of their devices, as the phone apps show them.
    ///
    /// - Parameters:
    ///   - ids: of nodes or groups that the signed-in user owns.
    ///   - userName: the other user's e-mail address or telephone number.
    ///   - subRole: 1 to 4, which nodes get with each command of a secondary user. Its meaning is the product's own.
    ///   - metadata: an object for the other user's application, in place of the names.
    /// - Returns: the request's id.
    /// - Throws: `RainKitError`: `unknown_user` if nobody has that name; `usage` for a sub-role that does not exist; the cloud's refusals.
    @discardableResult
    public func share(
        _ kind: SharedKind, _ ids: [String], with userName: String, as role: SharedRole = .secondary,
        subRole: Int? = nil, metadata: JSONValue? = nil
    ) async throws -> String {
        if let subRole {
            guard RainMakerCloud.subRoles.contains(subRole) else {
                throw RainKitError.usage("A sub-role is a number from 1 to 4, not \(subRole).")
            }
            guard role == .secondary else { throw RainKitError.usage("Only a secondary user has a sub-role.") }
        }
        let sent = metadata ?? (kind == .nodes ? names(of: ids) : nil)
        return try await asking { cloud throws(AccountError) in
            try await cloud.share(kind, ids, with: userName, as: role, subRole: subRole, metadata: sent)
        }
    }

    /// The names as the phone apps send them (espressif/esp-rainmaker-android 3.14.1, -ios); nil if no name is known.
    private func names(of ids: [String]) -> JSONValue? {
        let known = rememberedNodes().filter { ids.contains($0.id.rawValue) }.compactMap(\.name)
        guard !known.isEmpty else { return nil }
        return ["devices": .array(known.map { ["name": .string($0)] })]
    }

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
                    "\(userName.onOneLine) still has access to \(kept.joined(separator: ", ").onOneLine), through a group that is shared with this user.",
                remedies: [.sharedGroups])
        }
    }

    /// The ids that the user still has. An id that the cloud refuses to show is gone.
    private static func kept(
        _ kind: SharedKind, _ ids: [String], by user: String, _ cloud: any NodeCloud
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
                "the cloud has ended the sharing, but did not show whether \(user.onOneLine) still has access through a group: \(error.message)"
            throw unknown
        }
        return kept
    }

    private static func sharing(
        _ kind: SharedKind, of id: String, _ cloud: any NodeCloud
    ) async throws(AccountError) -> [Sharing] {
        do throws(AccountError) { return try await cloud.sharing(kind, of: id) } catch {
            guard error.isRefusal else { throw error }
            return []
        }
    }

    /// The node or group itself, and the groups around it: who shares one of these has it.
    private static func holders(
        of id: String, _ kind: SharedKind, _ cloud: any NodeCloud
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
