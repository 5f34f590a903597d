// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

extension RainKitClient {
    /// The boards in the account, with what they last reported.
    public func nodes() async throws(AccountError) -> [Node] { try await rainMakerNodes().nodes() }

    /// Hands them on one by one while the cloud lists them, and holds none: for accounts with thousands.
    public func eachNode(_ take: (Node) throws(AccountError) -> Void) async throws(AccountError) {
        try await rainMakerNodes().eachNode(take)
    }

    /// One board of the account. Throws `rejected` if there is no such board.
    public func node(_ id: NodeID) async throws(AccountError) -> Node { try await rainMakerNodes().node(id) }

    /// All that can be asked of RainMaker's cloud about the boards in the account.
    /// - Throws: `unsupported` for an account of another identity system.
    public func rainMakerNodes() throws(AccountError) -> RainMakerCloud {
        let account = try account()
        if let nodes = account.nodes { return nodes }
        throw AccountError(
            .unsupported, message: "\(account.name) keeps no list of boards; RainMaker does")
    }
}
