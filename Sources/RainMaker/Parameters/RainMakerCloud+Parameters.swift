// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The result of a change at one node.
public struct ParameterOutcome: Sendable, Equatable {
    /// The node.
    public var node: NodeID
    /// The reason why the cloud did not forward the values, or nil if it did. Nil does not mean that the node has them: the node reports
    /// its new values itself.
    public var failure: String?
    /// The cloud's number for the failure, if it gave one (`error_code`).
    public var serverCode: Int?
    /// The error that leaves the result of a failed change uncertain, such as a lost answer. The cloud may have forwarded the values
    /// anyway.
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
    /// Reads the cloud's answer for one node of several. The reason is the meaning of its number, or else its message and the number.
    init(_ node: NodeID, refused entry: JSONValue) {
        let code = entry["error_code"].flatMap(LenientInteger.init).map { Int($0.value) }
        let meaning = code.flatMap { RainMakerErrorCode.meaning(of: $0, status: 207)?.sentence }
        let words = entry["description"]?.string.map(presentable) ?? "refused"
        let named = code.map { " (error code \($0))" } ?? ""
        self.init(node: node, failure: meaning ?? words + named, serverCode: code)
    }
}

extension RainMakerCloud {
    /// The maximum number of nodes in one call.
    private static let nodesPerCall = 25

    /// Returns the values that a node last reported: `{"Light":{"Power":true}}`. Throws `rejected` if the user has no such node, or if it
    /// has not reported any values.
    public func parameters(of node: NodeID) async throws(AccountError) -> JSONValue {
        try await call(RainMakerCall(.get, "user/nodes/params", query: [("node_id", node.rawValue)]))
    }

    /// Asks the cloud to forward values to a node. They are not checked here: see ``NodeConfiguration/check(_:)``.
    public func set(_ changes: [ParameterChange], at node: NodeID) async throws(AccountError) {
        try await call(
            RainMakerCall(.put, "user/nodes/params", query: [("node_id", node.rawValue)], body: changes.json))
    }

    /// Asks the cloud to forward values to several nodes, in calls of 25. A failure at one node does not affect the others. If a call
    /// fails, the outcomes of earlier calls are still returned.
    ///
    /// - Throws: the error of the first call, and `cancelled` of any call. Then nothing more is sent.
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
                // The request may have succeeded although no answer arrived. After a 429 it did not.
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

    /// Sets the values of up to 25 nodes in one call.
    private func setTogether(
        _ part: ArraySlice<(node: NodeID, changes: [ParameterChange])>
    ) async throws(AccountError) -> [ParameterOutcome] {
        let body = part.map { node, changes -> JSONValue in
            ["node_id": .string(node.rawValue), "payload": changes.json]
        }
        var replies = try await listCall(RainMakerCall(.put, "user/nodes/params", body: .array(body)))
        return part.map { node, _ in
            // If the answer omits a node, its outcome is unknown. A node that appears twice in the answer has two outcomes.
            guard let index = replies.firstIndex(where: { $0["node_id"]?.string == node.rawValue }) else {
                return ParameterOutcome(node: node, failure: "the cloud did not report the outcome")
            }
            let reply = replies.remove(at: index)
            if reply["status"]?.string == "success" { return ParameterOutcome(node: node) }
            return ParameterOutcome(node, refused: reply)
        }
    }
}
