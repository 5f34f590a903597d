// SPDX-License-Identifier: Apache-2.0

/// All accounts, by id and by name, ``maximum`` at most.
///
/// Every client that reaches the simulator can make accounts: sign-ups, guests, users of identity providers. So the oldest account that
/// is not confirmed makes room for a new one, and beyond ``maximum`` none is added.
struct UserTable: Codable, Sendable, Equatable {
    static let maximum = 2_000
    /// The most guests and unconfirmed sign-ups; beyond it the oldest of them is removed.
    static let maximumUnproven = 500

    private var byID: [String: User] = [:]
    /// Ids of users who were not proven when they were added, oldest first.
    private var unproven: [String] = []
    private var idByName: [String: String] = [:]

    init() {}

    var count: Int { byID.count }
    var all: some Sequence<User> { byID.values }

    func named(_ name: String) -> User? { idByName[name].flatMap { byID[$0] } }

    /// Setting a user who is not there yet does nothing: that is ``add(_:)``.
    subscript(id: String) -> User? {
        get { byID[id] }
        set {
            guard let old = byID[id] else { return }
            if newValue?.userName != old.userName {
                idByName[old.userName] = nil
                if let name = newValue?.userName { idByName[name] = id }
            }
            byID[id] = newValue
        }
    }

    enum Addition: Equatable {
        /// With the id of the user who was removed to make room.
        case added(replacing: String?)
        case full
    }

    /// Adds a user, or replaces the one with the same id.
    mutating func add(_ user: User) -> Addition {
        if byID[user.id] != nil {
            self[user.id] = user
            return .added(replacing: nil)
        }
        var gone: String?
        if !user.isProven {
            // Users who were proven or removed meanwhile do not count.
            if unproven.count >= Self.maximumUnproven { unproven.removeAll { byID[$0]?.isProven != false } }
            if unproven.count >= Self.maximumUnproven {
                gone = unproven.removeFirst()
                if let gone { self[gone] = nil }
            }
            unproven.append(user.id)
        }
        guard byID.count < Self.maximum else { return .full }
        byID[user.id] = user
        idByName[user.userName] = user.id
        return .added(replacing: gone)
    }

    // MARK: Codable: the names follow from the users

    private enum CodingKeys: String, CodingKey { case byID, unproven }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        byID = try container.decode([String: User].self, forKey: .byID)
        unproven = try container.decode([String].self, forKey: .unproven)
        for user in byID.values { idByName[user.userName] = user.id }
    }
}

extension User {
    /// Whether the name was confirmed (by a code, by an identity provider, or as an account of the command line) and is no guest's.
    var isProven: Bool { isConfirmed && !isGuest }
}
