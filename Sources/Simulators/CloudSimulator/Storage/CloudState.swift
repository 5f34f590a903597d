// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The whole state that survives a restart.
struct CloudState: Codable, Sendable {
    var users = UserTable()
    /// The sessions by id.
    var sessions: [String: Session] = [:]
    var grants = AuthorizationGrants()
    var codes = VerificationCodes()
    /// The nodes by id.
    var nodes: [String: Node] = [:]
    var mappings = MappingTable()
    /// Nil in the folder of a simulator without a claim service.
    var claims: ClaimTable?
    /// These are nil until they are used, and in older folders.
    var sharing: SharingTable?
    var groups: GroupTable?
    var automations: AutomationTable?
    /// The broker's port. It is tried first after a restart, because boards have stored it.
    var brokerPort: UInt16?

    /// The maximum number of a user's sessions. A further sign-in ends the oldest.
    private static let maximumSessions = 100

    mutating func begin(_ session: Session) {
        let others = sessions.values.filter { $0.userID == session.userID }
        if others.count >= Self.maximumSessions, let oldest = others.min(by: { $0.startedAt < $1.startedAt }) {
            sessions[oldest.id] = nil
        }
        sessions[session.id] = session
    }

    mutating func endSessions(of userID: String) { sessions = sessions.filter { $0.value.userID != userID } }

    func user(named name: String) -> User? { users.named(name) }

    /// Adds a user, or replaces the one of that id. A user who is removed to make space loses sessions, codes and nodes.
    /// - Returns: the changed mappings; nil if there is no space.
    mutating func add(_ user: User) -> [MappingChange]? {
        guard case .added(let gone) = users.add(user) else { return nil }
        return gone.map { remove(userID: $0) } ?? []
    }

    /// Removes the user with all sessions, codes and nodes.
    mutating func remove(userID: String) -> [MappingChange] {
        endSessions(of: userID)
        codes.removeAll(of: userID)
        users[userID] = nil
        sharing?.removeAll(of: userID)
        groups?.removeAll(of: userID)
        automations?.removeAll(of: userID)
        return mappings.nodes(of: userID).flatMap { mappings.remove($0, from: userID) ?? [] }
    }

    private static let file = "state.json"
    private static let limits = JSONLimits(maximumBytes: 256 << 20, maximumDepth: 64, maximumValues: 10_000_000)

    static func load(from folder: DataFolder) throws(SimulatorError) -> CloudState {
        guard let text = try folder.read(file) else { return CloudState() }
        do {
            var state = try JSONCoder.decode(CloudState.self, from: text, limits: limits)
            for id in state.nodes.keys { state.nodes[id]?.connectivity.isConnected = false }
            return state
        } catch {
            throw SimulatorError(
                .storage,
                "\(folder.file(file)) does not belong to this simulator (\(error)); choose another --data, or remove this file"
            )
        }
    }

    func save(to folder: DataFolder) throws(SimulatorError) {
        do {
            try folder.write(try JSONCoder.encode(self), to: Self.file)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.storage, "the state cannot be written as JSON: \(error)")
        }
    }
}
