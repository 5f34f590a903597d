// SPDX-License-Identifier: Apache-2.0

/// All accounts, found by id and by name, and never more than fit.
///
/// Whoever can reach the simulator can begin to sign up, be a guest, or be vouched for by an identity provider: those whom no
/// code has confirmed give way to newer ones, and beyond ``maximum`` none is added.
struct UserTable: Codable, Sendable, Equatable {
    static let maximum = 2_000
    /// Guests, and sign-ups whose code has not come back; the one that came first goes when there is one more.
    static let maximumUnproven = 500

    private var byID: [String: User] = [:]
    /// Ids in the order in which they came, of users who were not proven then.
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
        /// Whoever had to go for it is named.
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
            // Those who were proven or removed meanwhile are not in the way.
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
    /// Whether a code, a password of the simulator's own or an identity provider stands behind the name.
    var isProven: Bool { isConfirmed && !isGuest }
}
