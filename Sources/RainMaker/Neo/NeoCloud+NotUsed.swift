// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// The calls for parts of Neo that RainKit does not use yet. Calls for which Neo has nothing have the answers of ``NodeCloud``.
extension NeoCloud {
    public func seriesWindows(
        _ request: SeriesRequest, window: String, from first: String, to last: String, page token: String?
    ) async throws(AccountError) -> (windows: [SeriesWindow], next: String?) {
        throw notUsed("aggregates of time series")
    }

    public func addTags(_ tags: [String], to node: NodeID) async throws(AccountError) {
        throw notUsed("tags of nodes")
    }

    public func removeTags(_ tags: [String], from node: NodeID) async throws(AccountError) {
        throw notUsed("tags of nodes")
    }

    public func automations(of node: NodeID?) async throws(AccountError) -> [Automation] {
        throw notUsed("automations")
    }

    public func createAutomation(_ document: JSONValue) async throws(AccountError) -> String {
        throw notUsed("automations")
    }

    public func changeAutomation(_ id: String, _ changes: JSONValue) async throws(AccountError) {
        throw notUsed("automations")
    }

    public func removeAutomation(_ id: String) async throws(AccountError) { throw notUsed("automations") }
}
