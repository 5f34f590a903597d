// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What became of a change at one node.
public struct ParameterOutcome: Sendable, Equatable {
    /// Which node.
    public var node: NodeID
    /// Why the cloud did not hand the values on; nil where it did, which does not mean that the node has them: it reports its new values itself.
    public var failure: String?
    /// The cloud's number for that, where it gave one (`error_code`).
    public var serverCode: Int?
    /// Where there is a failure: the fault that keeps it from being known whether the cloud has handed the values on all the same, such as
    /// an answer that was lost.
    public var untold: AccountError?

    public init(node: NodeID, failure: String? = nil, serverCode: Int? = nil) {
        self.node = node
        self.failure = failure
        self.serverCode = serverCode
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.node == other.node && one.failure == other.failure && one.serverCode == other.serverCode
            && one.untold?.code == other.untold?.code
    }
}

extension ParameterOutcome {
    /// What the cloud says of one node of several: what its number means, or else its own words, and the number.
    init(_ node: NodeID, refused entry: JSONValue) {
        let code = entry["error_code"].flatMap(LenientInteger.init).map { Int($0.value) }
        let meaning = code.flatMap { RainMakerErrorCode.meaning(of: $0, status: 207)?.sentence }
        let words = entry["description"]?.string.map(presentable) ?? "refused"
        let named = code.map { " (error code \($0))" } ?? ""
        self.init(node: node, failure: meaning ?? words + named, serverCode: code)
    }
}

extension RainMakerCloud {
    /// The most nodes that one call may set.
    static let nodesPerCall = 25

    /// The values that a node last reported: `{"Light":{"Power":true}}`. Throws `rejected` where the user has no such node, or it has not reported any.
    public func parameters(of node: NodeID) async throws(AccountError) -> JSONValue {
        try await call(RainMakerCall(.get, "user/nodes/params", query: [("node_id", node.rawValue)]))
    }

    /// Has the cloud hand values on to a node. They are not checked here: see ``NodeConfiguration/check(_:)``.
    public func set(_ changes: [ParameterChange], at node: NodeID) async throws(AccountError) {
        try await call(
            RainMakerCall(.put, "user/nodes/params", query: [("node_id", node.rawValue)], body: changes.json))
    }

    /// The same for several nodes, in calls of 25. One that fails keeps no other from its values, and no call that fails keeps what was done
    /// from being told.
    ///
    /// - Throws: what the first call fails with, and `cancelled` from any: no more is sent then.
    public func set(
        _ changes: [(node: NodeID, changes: [ParameterChange])]
    ) async throws(AccountError) -> [ParameterOutcome] {
        var outcomes: [ParameterOutcome] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.nodesPerCall)
            rest = rest.dropFirst(part.count)
            do throws(AccountError) {
                outcomes += try await setTogether(part)
            } catch {
                guard !outcomes.isEmpty, error.code != .cancelled else { throw error }
                // The cloud may have done what its answer does not tell. Who is asked to slow down was not served.
                let untold = error.isTransient && error.code != .rateLimited ? error : nil
                outcomes += part.map {
                    var outcome = ParameterOutcome(
                        node: $0.node, failure: error.message, serverCode: error.serverCode)
                    outcome.untold = untold
                    return outcome
                }
            }
        }
        return outcomes
    }

    /// In one call.
    private func setTogether(
        _ part: ArraySlice<(node: NodeID, changes: [ParameterChange])>
    ) async throws(AccountError) -> [ParameterOutcome] {
        let body = part.map { node, changes -> JSONValue in
            ["node_id": .string(node.rawValue), "payload": changes.json]
        }
        var replies = try await listCall(RainMakerCall(.put, "user/nodes/params", body: .array(body)))
        return part.map { node, _ in
            // An answer that leaves a node out has said nothing of it. One that is there twice has two.
            guard let index = replies.firstIndex(where: { $0["node_id"]?.string == node.rawValue }) else {
                return ParameterOutcome(node: node, failure: "the cloud did not say what became of it")
            }
            let reply = replies.remove(at: index)
            if reply["status"]?.string == "success" { return ParameterOutcome(node: node) }
            return ParameterOutcome(node, refused: reply)
        }
    }
}
