// SPDX-License-Identifier: Apache-2.0
public import CRainKit
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainKit
import RainMaker

/// The boards of the account.
extension Client {
    fileprivate func list() async throws -> String {
        var list = NodeListResult(nodes: [])
        try await kit.eachNode { list.append($0) }
        return JSONText.documentLine(list)
    }

    fileprivate func show(_ names: String) async throws -> String {
        let nodes = try await kit.nodes(listed: names)
        if nodes.count == 1 { return JSONText.documentLine(NodeShowResult(nodes[0])) }
        return JSONText.documentLine(NodeShowListResult(nodes: nodes.map { NodeShowResult($0) }))
    }

    fileprivate func values(_ names: String) async throws -> String {
        let cloud = try kit.rainMakerNodes()
        var results: [ParamsResult] = []
        for node in try await kit.nodes(listed: names) {
            let chosen = try ParamsResult.chosen(
                [], of: try await cloud.parameters(of: node.id), node.shownName, NodeConfiguration(node.configuration))
            results.append(ParamsResult(node: node.id, name: node.shownName, chosen))
        }
        if results.count == 1 { return JSONText.documentLine(results[0]) }
        return JSONText.documentLine(ParamsListResult(nodes: results))
    }

    fileprivate func set(_ names: String, _ values: [UInt8], waiting limit: Duration?) async throws -> String {
        let changes = try Self.changes(values)
        let nodes = try await kit.nodes(listed: names)
        let outcomes = try await kit.set(nodes.map { ($0, changes) }, waiting: limit)
        let shown = Dictionary(nodes.map { ($0.id.rawValue, $0.shownName) }) { first, _ in first }
        let result = ParamsSetResult(outcomes, names: shown)
        let document = JSONText.documentLine(result)
        if let error = result.failure(ParamsSetResult.Hints()) {
            throw PartialFailure(error: error, document: document)
        }
        return document
    }

    fileprivate func watch(_ names: String?, for limit: Duration?, _ operation: Operation) async throws -> String {
        guard let names else {
            let watching = { @Sendable [kit] () async throws in
                var hasBegun = false
                for try await event in kit.watchAll() {
                    if case .alive = event, !hasBegun {
                        hasBegun = true
                        operation.note("watching")
                    }
                    operation.add(event)
                }
            }
            if let limit {
                let outcome = await withDeadline(limit, sleep: { try await TimerClock().sleep(for: $0) }, watching)
                try outcome?.get()
            } else {
                try await watching()
            }
            try Task.checkCancellation()
            return "{}"
        }
        let nodes = try await kit.nodes(listed: names)
        operation.note("watching")
        try await kit.watch(nodes, live: true, for: limit) { event in
            switch event {
            case .change(let change): operation.add(change)
            case .listening: operation.note("listening")
            case .interrupted(let reason): operation.note("interrupted", reason)
            case .alert(let alert): operation.add(alert)
            case .withoutAlerts(let reason): operation.note("without_alerts", reason)
            }
            return true
        }
        try Task.checkCancellation()
        return "{}"
    }

    fileprivate func rename(_ name: String, to newName: String) async throws -> String {
        let node = try await kit.node(named: name)
        let outcome = try await kit.rename(node, to: newName)
        let warnings = outcome.clash.map { [Warning(reason: "name_taken", message: $0.description)] } ?? []
        let result = ParamsSetResult([outcome.parameters], names: [node.id.rawValue: node.shownName], newName: newName)
        return JSONText.documentLine(result, warnings: warnings)
    }

    fileprivate func remove(_ name: String) async throws -> String {
        let node = try await kit.node(named: name)
        try await kit.rainMakerNodes().removeMapping(node: node.id)
        return JSONText.documentLine(NodeRemovedResult(nodeID: node.id.rawValue, name: node.shownName))
    }

    // MARK: Schedules

    fileprivate func schedules(_ name: String) async throws -> String {
        let node = try await kit.node(named: name)
        return JSONText.documentLine(EntryListResult(node.id, try node.schedules(), member: "schedules"))
    }

    fileprivate func addSchedule(
        _ name: String, to node: String, _ values: [UInt8], at time: String, on days: String?
    ) async throws -> String {
        let (changes, time) = (try Self.changes(values), try ScheduleTime(at: time, days: days))
        let node = try await kit.node(named: node)
        let outcome = try await kit.addSchedule(name, values: changes, time: time, at: node)
        var warnings: [Warning] = []
        if let zone = outcome.missingTimeZone {
            warnings = [
                Warning(
                    reason: "no_time_zone",
                    message: "\(node.shownName) has no time zone yet, so it reads the time as UTC. Set \(zone).")
            ]
        }
        return JSONText.documentLine(EntryResult(outcome, noun: "schedule", of: node.shownName), warnings: warnings)
    }

    fileprivate func change(_ schedule: String, of node: String, _ change: Int32) async throws -> String {
        let node = try await kit.node(named: node)
        let outcome =
            switch change {
            case Int32(RAINKIT_SCHEDULE_REMOVE): try await kit.removeSchedule(schedule, at: node)
            case Int32(RAINKIT_SCHEDULE_ENABLE): try await kit.enableSchedule(schedule, at: node)
            default: try await kit.disableSchedule(schedule, at: node)
            }
        return JSONText.documentLine(EntryResult(outcome, noun: "schedule", of: node.shownName))
    }

    // MARK: Sharing

    fileprivate func shares(_ name: String?) async throws -> String {
        var id: String?
        if let name { id = try await kit.node(named: name).id.rawValue }
        return JSONText.documentLine(SharingListResult(try await kit.rainMakerNodes().sharing(.nodes, of: id)))
    }

    fileprivate func share(_ names: String, with user: String) async throws -> String {
        let ids = try await kit.nodes(listed: names).map(\.id.rawValue)
        let request = try await kit.share(.nodes, ids, with: user)
        return JSONText.documentLine(
            ActionResult("").with("request_id", request).with("ids", ids).with("user_name", user))
    }

    fileprivate func stopSharing(_ names: String, with user: String) async throws -> String {
        let ids = try await kit.nodes(listed: names).map(\.id.rawValue)
        try await kit.stopSharing(.nodes, ids, with: user)
        return JSONText.documentLine(ActionResult("").with("ids", ids).with("user_name", user).with("removed", true))
    }

    fileprivate func shareRequests(sent: Bool) async throws -> String {
        let requests = try await kit.rainMakerNodes().sharingRequests(.nodes, sent: sent)
        return JSONText.documentLine(SharingRequestsResult(requests, areSent: sent))
    }

    fileprivate func answer(_ request: String, accepting: Bool) async throws -> String {
        try await kit.rainMakerNodes().answerSharing(.nodes, request: request, accepting: accepting)
        return JSONText.documentLine(ActionResult("").with("request_id", request).with("accepted", accepting))
    }

    // MARK: Updates

    fileprivate func update(
        _ name: String, _ path: String, within limit: Duration, _ operation: Operation
    ) async throws -> String {
        let began = ContinuousClock.now
        let node = try await kit.node(named: name)
        let update = try FirmwareUpdate(file: path, for: node)
        let warnings = update.warnings.map { Warning(reason: $0.reason, message: $0.message) }
        let report: @Sendable (FirmwareUpdateEvent) -> Void = { event in
            switch event {
            case .uploaded(let bytes, let size):
                operation.add(.progress("uploaded", UploadNote(bytes: bytes, size: size)))
            case .retrying(let text): operation.note("retrying", text)
            case .news(let text): operation.note("news", text)
            case .sent(let isOffline): operation.add(.progress("sent", SentNote(offline: isOffline)))
            }
        }
        let sent = try await kit.send(update, isFollowed: true, report: report)
        let left = limit - began.duration(to: .now)
        let outcome = try await kit.follow(
            sent, for: max(.zero, left - min(.milliseconds(500), left / 4)), report: report)
        let result = UpdateResult(
            node.id, update.image, state: outcome.status, info: outcome.info, name: node.shownName)
        let document = JSONText.documentLine(result, warnings: warnings)
        if let error = outcome.error(at: node) { throw PartialFailure(error: error, document: document) }
        return document
    }

    /// Reads values of a JSON object such as `{"Light": {"Power": true}}`.
    private static func changes(_ json: [UInt8]) throws -> [ParameterChange] {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: json)
        } catch {
            throw RainKitError(.request(.badData, reason: "bad_values"), message: "The values are not JSON: \(error).")
        }
        guard let changes = [ParameterChange](value), !changes.isEmpty else {
            throw RainKitError(
                .request(.badData, reason: "bad_values"),
                message: "The values must be a JSON object such as {\"Light\": {\"Power\": true}}.")
        }
        return changes
    }
}

/// A state of a watch or an update that is not a change of a board.
private struct Note: Encodable {
    let state: String
    let message: String?
}

private struct UploadNote: Encodable { let bytes, size: Int }
private struct SentNote: Encodable { let offline: Bool }

/// A board that came into the account or left it.
private struct MembershipNote: Encodable {
    let nodeID: String
    let name: String?
    let state: String
    /// Whether the cloud sees a board that was added; nil for one that was removed, or if the cloud does not say.
    var connected: Bool?
}

extension Operation {
    fileprivate func note(_ state: String, _ message: String? = nil) {
        add(.progress(state, TimedDocument(Note(state: state, message: message))))
    }

    fileprivate func add(_ change: NodeChange) {
        let name =
            switch change.kind {
            case .connected(let isConnected): isConnected ? "online" : "offline"
            case .value: "value"
            }
        add(.progress(name, TimedDocument(change)))
    }

    fileprivate func add(_ alert: NodeAlert) { add(.progress("alert", TimedDocument(alert))) }

    fileprivate func add(_ event: NodeEvent) {
        switch event {
        case .changed(let change): add(change)
        case .alert(let alert): add(alert)
        case .added(let node):
            let note = MembershipNote(
                nodeID: node.id.rawValue, name: node.displayName, state: "added",
                connected: node.connectivity?.isConnected)
            add(.progress("added", TimedDocument(note)))
        case .removed(let id, let name):
            add(.progress("removed", TimedDocument(MembershipNote(nodeID: id.rawValue, name: name, state: "removed"))))
        case .unreachable(let error): note("unreachable", error.message)
        case .reachable: note("reachable")
        case .listening: note("listening")
        case .interrupted(let reason): note("interrupted", reason)
        case .alive, .described: break
        }
    }
}

/// The usual time limit of calls about nodes.
private let usual = Duration.seconds(30)

// MARK: Functions

@c @implementation
public func rainkit_node_list(
    _ client: OpaquePointer?, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        { client, _ in try await client.list() }
    }
}

@c @implementation
public func rainkit_node_show(
    _ client: OpaquePointer?, _ node: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let node = try node.requiredText
        return { client, _ in try await client.show(node) }
    }
}

@c @implementation
public func rainkit_node_get(
    _ client: OpaquePointer?, _ node: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let node = try node.requiredText
        return { client, _ in try await client.values(node) }
    }
}

@c @implementation
public func rainkit_node_set(
    _ client: OpaquePointer?, _ nodes: rainkit_string, _ values: rainkit_string, _ wait: UInt32, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    let limit = Duration(milliseconds: timeout, usual: usual) + .milliseconds(Int64(wait))
    return start(client, operation, within: limit) { () throws(CallError) in
        let (nodes, values) = (try nodes.requiredText, Array(try values.requiredText.utf8))
        let wait = wait == 0 ? nil : Duration.milliseconds(Int64(wait))
        return { client, _ in try await client.set(nodes, values, waiting: wait) }
    }
}

@c @implementation
public func rainkit_node_watch(
    _ client: OpaquePointer?, _ nodes: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: .zero, hasOwnLimit: true) { () throws(CallError) in
        let nodes = try nodes.text
        let limit = timeout == 0 ? nil : Duration.milliseconds(Int64(timeout))
        return { client, operation in try await client.watch(nodes, for: limit, operation) }
    }
}

@c @implementation
public func rainkit_node_rename(
    _ client: OpaquePointer?, _ node: rainkit_string, _ name: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let (node, name) = (try node.requiredText, try name.requiredText)
        return { client, _ in try await client.rename(node, to: name) }
    }
}

@c @implementation
public func rainkit_node_remove(
    _ client: OpaquePointer?, _ node: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let node = try node.requiredText
        return { client, _ in try await client.remove(node) }
    }
}

@c @implementation
public func rainkit_schedule_list(
    _ client: OpaquePointer?, _ node: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let node = try node.requiredText
        return { client, _ in try await client.schedules(node) }
    }
}

@c @implementation
public func rainkit_schedule_add(
    _ client: OpaquePointer?, _ node: rainkit_string, _ name: rainkit_string, _ values: rainkit_string,
    _ time: rainkit_string, _ days: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let (node, name, values) = (try node.requiredText, try name.requiredText, Array(try values.requiredText.utf8))
        let (time, days) = (try time.requiredText, try days.text)
        return { client, _ in try await client.addSchedule(name, to: node, values, at: time, on: days) }
    }
}

@c @implementation
public func rainkit_schedule_change(
    _ client: OpaquePointer?, _ node: rainkit_string, _ schedule: rainkit_string, _ change: Int32, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let (node, schedule) = (try node.requiredText, try schedule.requiredText)
        guard (Int32(RAINKIT_SCHEDULE_REMOVE)...Int32(RAINKIT_SCHEDULE_DISABLE)).contains(change) else {
            throw .usage
        }
        return { client, _ in try await client.change(schedule, of: node, change) }
    }
}

@c @implementation
public func rainkit_share_list(
    _ client: OpaquePointer?, _ node: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let node = try node.text
        return { client, _ in try await client.shares(node) }
    }
}

@c @implementation
public func rainkit_share_add(
    _ client: OpaquePointer?, _ nodes: rainkit_string, _ user: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let (nodes, user) = (try nodes.requiredText, try user.requiredText)
        return { client, _ in try await client.share(nodes, with: user) }
    }
}

@c @implementation
public func rainkit_share_remove(
    _ client: OpaquePointer?, _ nodes: rainkit_string, _ user: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let (nodes, user) = (try nodes.requiredText, try user.requiredText)
        return { client, _ in try await client.stopSharing(nodes, with: user) }
    }
}

@c @implementation
public func rainkit_share_requests(
    _ client: OpaquePointer?, _ sent: Int32, _ timeout: UInt32, _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        { client, _ in try await client.shareRequests(sent: sent != 0) }
    }
}

@c @implementation
public func rainkit_share_answer(
    _ client: OpaquePointer?, _ request: rainkit_string, _ accept: Int32, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    start(client, operation, within: Duration(milliseconds: timeout, usual: usual)) { () throws(CallError) in
        let request = try request.requiredText
        return { client, _ in try await client.answer(request, accepting: accept != 0) }
    }
}

@c @implementation
public func rainkit_update(
    _ client: OpaquePointer?, _ node: rainkit_string, _ image: rainkit_string, _ timeout: UInt32,
    _ operation: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    let limit = Duration(milliseconds: timeout, usual: .seconds(300))
    return start(client, operation, within: limit) { () throws(CallError) in
        let (node, image) = (try node.requiredText, try image.requiredText)
        return { client, operation in try await client.update(node, image, within: limit, operation) }
    }
}
