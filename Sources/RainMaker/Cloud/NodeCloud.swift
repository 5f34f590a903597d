// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// The calls of a cloud for the nodes of the signed-in user. ``RainMakerCloud`` and ``NeoCloud`` have them.
///
/// A call that a cloud does not have throws `unsupported` before anything is sent, with a message that names it. Every other error is that of
/// the cloud.
public protocol NodeCloud: NodeMapping {
    /// The cloud's name in messages, such as `RainMaker Neo`.
    var kind: String { get }
    /// Whether live reports have all values and the node's connection, so that the cloud need not be asked as well.
    var reportsEverything: Bool { get }

    /// Returns all of the user's nodes, with their last reported values.
    func nodes() async throws(AccountError) -> [Node]
    /// Passes on the user's nodes, or those with one of these tags, a part of them at a time.
    func eachNode(
        tagged tags: [String], _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError)
    /// Returns one node. Throws `unknownNode` or `rejected` if the user has no such node.
    func node(_ id: NodeID) async throws(AccountError) -> Node
    /// Returns a node's description of itself.
    func nodeConfiguration(_ id: NodeID) async throws(AccountError) -> JSONValue
    /// Returns whether a node is connected.
    func nodeConnectivity(_ id: NodeID) async throws(AccountError) -> Node.Connectivity
    /// Removes a node from the user's account.
    func removeMapping(node: NodeID) async throws(AccountError)

    /// Returns the values that a node last reported.
    func parameters(of node: NodeID) async throws(AccountError) -> JSONValue
    /// Has the cloud forward values to a node.
    func set(_ changes: [ParameterChange], at node: NodeID) async throws(AccountError)
    /// Has the cloud forward values to several nodes.
    func set(_ changes: [(node: NodeID, changes: [ParameterChange])]) async throws(AccountError) -> [ParameterOutcome]
    /// Passes on the reports of nodes until the task is cancelled.
    func listen(
        to nodes: [NodeID], with tools: LiveTools, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError)
    /// Returns one page of a time series.
    func seriesPage(_ request: SeriesRequest, page token: String?) async throws(AccountError) -> SeriesPage
    /// Returns one page of the windows that the cloud has computed of a simple series.
    func seriesWindows(
        _ request: SeriesRequest, window: String, from first: String, to last: String, page token: String?
    ) async throws(AccountError) -> (windows: [SeriesWindow], next: String?)

    /// Returns the user's groups.
    func groups(withSubgroups: Bool) async throws(AccountError) -> [NodeGroup]
    /// Returns one group, with its nodes and sub-groups.
    func group(_ id: String) async throws(AccountError) -> NodeGroup
    /// Creates a group, and returns its id.
    func createGroup(_ group: NodeGroupChange, nodes: [NodeID]) async throws(AccountError) -> String
    /// Changes the given values of a group.
    func changeGroup(_ id: String, _ change: NodeGroupChange) async throws(AccountError)
    /// Removes a group.
    func removeGroup(_ id: String) async throws(AccountError)
    /// Adds nodes to a group.
    func addNodes(_ nodes: [NodeID], toGroup id: String) async throws(AccountError)
    /// Removes nodes from a group. They stay in the account.
    func removeNodes(_ nodes: [NodeID], fromGroup id: String) async throws(AccountError)

    /// Offers nodes or groups to another user, and returns the request's id.
    func share(
        _ kind: SharedKind, _ ids: [String], with userName: String, as role: SharedRole, subRole: Int?,
        metadata: JSONValue?
    ) async throws(AccountError) -> String
    /// Stops sharing with a user.
    func stopSharing(_ kind: SharedKind, _ ids: [String], with userName: String) async throws(AccountError)
    /// Returns the users of nodes or groups.
    func sharing(_ kind: SharedKind, of id: String?) async throws(AccountError) -> [Sharing]
    /// Returns the offers that the user has sent or received.
    func sharingRequests(_ kind: SharedKind, sent: Bool) async throws(AccountError) -> [SharingRequest]
    /// Accepts or declines an offer.
    func answerSharing(_ kind: SharedKind, request id: String, accepting: Bool) async throws(AccountError)
    /// Cancels an offer that the user has sent.
    func cancelSharing(_ kind: SharedKind, request id: String) async throws(AccountError)

    /// Adds tags, each of the form `key:value`.
    func addTags(_ tags: [String], to node: NodeID) async throws(AccountError)
    /// Removes tags.
    func removeTags(_ tags: [String], from node: NodeID) async throws(AccountError)
    /// Changes members of a node's metadata.
    func changeMetadata(_ changes: JSONValue, of node: NodeID) async throws(AccountError)
    /// Removes all of a node's metadata.
    func removeMetadata(of node: NodeID) async throws(AccountError)

    /// Returns the user's automations, or those that one node triggers.
    func automations(of node: NodeID?) async throws(AccountError) -> [Automation]
    /// Creates an automation, and returns its id.
    func createAutomation(_ document: JSONValue) async throws(AccountError) -> String
    /// Changes the given members of an automation.
    func changeAutomation(_ id: String, _ changes: JSONValue) async throws(AccountError)
    /// Removes an automation.
    func removeAutomation(_ id: String) async throws(AccountError)

    /// Sends a command to nodes.
    func sendCommand(
        _ command: UInt16, _ data: RainMakerCloud.CommandData, to nodes: [NodeID], lifetime: Int64?, overrides: Bool
    ) async throws(AccountError) -> (request: RequestID, refused: [ParameterOutcome])
    /// Returns the state of a command at each node.
    func commandRecords(_ request: RequestID) async throws(AccountError) -> [NodeCommandRecord]
    /// Returns commands that the user has sent.
    func commandRecords(
        of node: NodeID?, in status: NodeCommandRecord.Status?, number command: UInt16?, atMost count: Int
    ) async throws(AccountError) -> [NodeCommandRecord]
    /// Cancels commands that nodes have not answered, and returns how many.
    func cancelCommands(
        _ request: RequestID?, of node: NodeID?, number command: UInt16?
    ) async throws(AccountError) -> Int?

    /// Returns the update that the cloud has for a node.
    func updateOffer(for node: NodeID) async throws(AccountError) -> UpdateOffer
    /// Starts an update.
    func startUpdate(_ job: String, at node: NodeID) async throws(AccountError)
    /// Returns what a node has reported of an update.
    func updateReport(of job: String, at node: NodeID) async throws(AccountError) -> UpdateJobReport

    /// Uploads a firmware image, and returns the address from which nodes get it.
    func uploadImage(
        _ bytes: [UInt8], name: String, progress: @escaping @Sendable (_ sentBytes: Int) -> Void
    ) async throws(AccountError) -> String
    /// Returns the hosts that nodes connect to.
    func nodeHosts() async throws(AccountError) -> NodeHosts
}

extension RainMakerCloud: NodeCloud {
    public var kind: String { "RainMaker" }
}

/// The answers of a cloud that does not have a call.
extension NodeCloud {
    public var reportsEverything: Bool { false }

    /// Passes on all of the user's nodes, a part of them at a time.
    public func eachNode(_ take: (Node) throws(AccountError) -> Void) async throws(AccountError) {
        try await eachNode(tagged: [], take)
    }

    /// Returns the error for a call that this cloud does not have.
    /// - Parameter subject: such as `metadata of nodes`.
    public func unsupported(_ subject: String) -> AccountError {
        AccountError(.unsupported, message: "\(kind) does not have \(subject)")
    }

    /// Returns the error for a part of this cloud that RainKit does not use.
    /// - Parameter subject: such as `tags of nodes`.
    package func notUsed(_ subject: String) -> AccountError {
        AccountError(.unsupported, message: "RainKit does not support \(subject) of \(kind) yet")
    }

    public func seriesWindows(
        _ request: SeriesRequest, window: String, from first: String, to last: String, page token: String?
    ) async throws(AccountError) -> (windows: [SeriesWindow], next: String?) {
        throw unsupported("windows of simple time series")
    }

    public func addTags(_ tags: [String], to node: NodeID) async throws(AccountError) {
        throw unsupported("tags of nodes")
    }

    public func removeTags(_ tags: [String], from node: NodeID) async throws(AccountError) {
        throw unsupported("tags of nodes")
    }

    public func changeMetadata(_ changes: JSONValue, of node: NodeID) async throws(AccountError) {
        throw unsupported("metadata of nodes")
    }

    public func removeMetadata(of node: NodeID) async throws(AccountError) { throw unsupported("metadata of nodes") }

    public func automations(of node: NodeID?) async throws(AccountError) -> [Automation] {
        throw unsupported("automations")
    }

    public func createAutomation(_ document: JSONValue) async throws(AccountError) -> String {
        throw unsupported("automations")
    }

    public func changeAutomation(_ id: String, _ changes: JSONValue) async throws(AccountError) {
        throw unsupported("automations")
    }

    public func removeAutomation(_ id: String) async throws(AccountError) {
        throw unsupported("automations")
    }

    public func sendCommand(
        _ command: UInt16, _ data: RainMakerCloud.CommandData, to nodes: [NodeID], lifetime: Int64?, overrides: Bool
    ) async throws(AccountError) -> (request: RequestID, refused: [ParameterOutcome]) {
        throw unsupported("commands to nodes")
    }

    public func commandRecords(_ request: RequestID) async throws(AccountError) -> [NodeCommandRecord] {
        throw unsupported("commands to nodes")
    }

    public func commandRecords(
        of node: NodeID?, in status: NodeCommandRecord.Status?, number command: UInt16?, atMost count: Int
    ) async throws(AccountError) -> [NodeCommandRecord] {
        throw unsupported("commands to nodes")
    }

    public func cancelCommands(
        _ request: RequestID?, of node: NodeID?, number command: UInt16?
    ) async throws(AccountError) -> Int? {
        throw unsupported("commands to nodes")
    }

    public func updateOffer(for node: NodeID) async throws(AccountError) -> UpdateOffer {
        throw unsupported("firmware updates that users start")
    }

    public func startUpdate(_ job: String, at node: NodeID) async throws(AccountError) {
        throw unsupported("firmware updates that users start")
    }

    public func updateReport(of job: String, at node: NodeID) async throws(AccountError) -> UpdateJobReport {
        throw unsupported("firmware updates that users start")
    }

    public func uploadImage(
        _ bytes: [UInt8], name: String, progress: @escaping @Sendable (_ sentBytes: Int) -> Void
    ) async throws(AccountError) -> String {
        throw unsupported("firmware updates that users start")
    }
}
