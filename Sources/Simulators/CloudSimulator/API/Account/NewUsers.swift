// SPDX-License-Identifier: Apache-2.0
extension CloudAPI {
    /// Stores the user that `make` names, a new one or a known one, within what the simulator keeps (``UserTable``).
    func addUser(_ make: (CloudState) throws(APIError) -> User) throws(APIError) -> User {
        let outcome = try change { state -> Result<(user: User, changes: [MappingChange]), APIError> in
            do throws(APIError) {
                let user = try make(state)
                guard let changes = state.add(user) else { return .failure(.noRoom) }
                return .success((user, changes))
            } catch {
                return .failure(error)
            }
        }
        let (user, changes) = try outcome.get()
        record(changes)
        return user
    }
}
