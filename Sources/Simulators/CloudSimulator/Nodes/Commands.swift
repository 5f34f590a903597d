// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// The users' commands to nodes, and the nodes' answers. A restart loses them.
struct CommandTable: Codable, Sendable, Equatable {
    struct Record: Codable, Sendable, Equatable {
        enum Status: String, Codable, Sendable {
            case requested, success, failure
            case timedOut = "timed_out"
            case overridden, cancelled
        }

        var requestID: String
        var owner: String
        var node: String
        var command: Int64
        var data: JSONValue
        var isBase64: Bool
        var status = Status.requested
        /// The node's own status (`esp_rmaker_cmd_status_t`).
        var nodeStatus: UInt8?
        var answer: [UInt8] = []
        /// Milliseconds since 1970; nil for never.
        var requestedAt: Int64
        var answeredAt: Int64?
        var expiresAt: Int64?
    }

    /// The maximum number of commands. Beyond it the oldest are dropped.
    private static let maximum = 1000

    private(set) var records: [Record] = []

    fileprivate mutating func add(_ record: Record) {
        records.append(record)
        if records.count > Self.maximum { records.removeFirst(records.count - Self.maximum) }
    }

    /// Returns false if no request waits for the answer.
    fileprivate mutating func answer(_ message: CommandMessage, from node: String, at now: Int64) -> Bool {
        expire(at: now)
        let index = records.firstIndex {
            $0.requestID == message.requestID && $0.node == node && $0.status == .requested
        }
        guard let index else { return false }
        records[index].status = message.status == 0 ? .success : .failure
        records[index].nodeStatus = message.status
        records[index].answer = message.data
        records[index].answeredAt = now
        return true
    }

    fileprivate mutating func expire(at now: Int64) {
        for index in records.indices
        where records[index].status == .requested && (records[index].expiresAt ?? .max) <= now {
            records[index].status = .timedOut
        }
    }

    /// Ends requests that no node has answered. Returns how many there were.
    fileprivate mutating func end(
        _ status: Record.Status, of owner: String, where isMeant: (Record) -> Bool
    ) -> Int {
        var count = 0
        for index in records.indices
        where records[index].status == .requested && records[index].owner == owner && isMeant(records[index]) {
            records[index].status = status
            count += 1
        }
        return count
    }

    fileprivate func list(_ requestID: String, of owner: String) -> [Record] {
        records.filter { $0.requestID == requestID && $0.owner == owner }
    }

    /// Returns the user's commands, the newest first.
    fileprivate func list(of owner: String) -> [Record] { records.reversed().filter { $0.owner == owner } }
}

/// A command to a node, or its answer: type, length and value, with one byte each for type and length (`esp_rmaker_cmd_resp.c` of
/// RainMaker's common component). A value of more than 255 bytes continues in the next element of its type.
struct CommandMessage: Equatable {
    private enum Kind: UInt8 { case requestID = 1, role, status, timestamp, command, data }

    /// The role of the sender, as firmware checks it.
    enum Role: UInt8 { case primary = 2, secondary = 4 }

    var requestID = ""
    var role: Role?
    /// The sub-role of a secondary user, 1 to 4: bit n − 1 of the role byte's upper half.
    var subRole: Int64?
    var status: UInt8?
    var command: UInt16 = 0
    var data: [UInt8] = []

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ kind: Kind, _ value: some Collection<UInt8>) {
            var rest = value[...]
            repeat {
                let piece = rest.prefix(255)
                bytes += [kind.rawValue, UInt8(piece.count)] + piece
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        add(.requestID, Array(requestID.utf8))
        if let role { add(.role, [role.rawValue | (subRole.map { 0x10 << UInt8($0 - 1) } ?? 0)]) }
        if let status { add(.status, [status]) }
        add(.command, [UInt8(truncatingIfNeeded: command), UInt8(command >> 8)])
        if !data.isEmpty { add(.data, data) }
        return bytes
    }

    init() {}

    /// Returns nil for bytes that end within an element, or that name no request.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let kind = rest.popFirst(), let length = rest.popFirst(), rest.count >= length else { return nil }
            let value = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            switch Kind(rawValue: kind) {
            case .requestID: requestID += String(decoding: value, as: UTF8.self)
            case .role: role = value.first.flatMap { Role(rawValue: $0 & 0x0F) }
            case .status: status = value.first
            case .command:
                guard value.count == 2, let low = value.first, let high = value.last else { return nil }
                command = UInt16(high) << 8 | UInt16(low)
            case .data: data += value
            case .timestamp, nil: break
            }
        }
        guard !requestID.isEmpty else { return nil }
    }
}

/// `user/nodes/cmd`: a command to nodes, and their answers.
extension CloudAPI {
    /// The maximum size of a command in bytes; a limit of the simulator.
    private static let maximumCommand = 4096
    private static let commandPage = 25

    /// `POST`: sends to up to 25 nodes. If one of them fails, each has its own answer.
    func sendCommand(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        let nodes = try Self.names(body.value["node_ids"])
        guard (1...25).contains(nodes.count) else { throw .nodeIDMissing }
        // The official client passes on the typed value, which may be a text.
        var command = body.value["cmd"]?.integer
        if command == nil { command = body.value["cmd"]?.string.flatMap { Int64($0) } }
        guard let command, (0...65535).contains(command) else { throw APIError(131001, "Command is not valid") }
        let timeout = try body.integer("timeout") ?? 30
        guard timeout == -1 || (1...2_592_000).contains(timeout) else { throw APIError(131002, "Timeout is not valid") }
        let isBase64 = try body.bool("is_base64") ?? false
        let overrides = try body.bool("override") ?? false
        let data = body.value["data"] ?? .null
        let bytes = isBase64 ? data.string.flatMap { decodedBase64($0) } : data.isNull ? [] : data.serialized()
        guard let bytes, bytes.count <= Self.maximumCommand else { throw .invalidBody }
        let (id, now) = (Self.shortID(), now)
        var responses: [JSONValue] = []
        var sent: [(node: String, message: CommandMessage)] = []
        for node in nodes {
            do throws(APIError) {
                _ = try ownNode(node, of: user)
            } catch {
                responses.append([
                    "node_id": .string(node), "status": "failure", "description": .string(error.description),
                    "error_code": .integer(error.code ?? 0),
                ])
                continue
            }
            let (isPrimary, subRole) = readState { state in
                (state.mappings.isPrimary(user.id, of: node), state.mappings.subRole(of: user.id, at: node))
            }
            var message = CommandMessage()
            (message.requestID, message.role) = (id, isPrimary ? .primary : .secondary)
            message.subRole = subRole
            (message.command, message.data) = (UInt16(command), bytes)
            let record = CommandTable.Record(
                requestID: id, owner: user.id, node: node, command: command, data: data, isBase64: isBase64,
                requestedAt: now, expiresAt: timeout == -1 ? nil : now + timeout * 1000)
            commands.withLock { table in
                table.expire(at: now)
                if overrides {
                    _ = table.end(.overridden, of: user.id) { $0.node == node && $0.command == command }
                }
                table.add(record)
            }
            sent.append((node, message))
            responses.append(["node_id": .string(node), "status": "success", "description": "Command is sent"])
        }
        guard !sent.isEmpty else { throw nodes.count == 1 ? .nodeNotOwned : .nodesMissing }
        for (node, message) in sent { outbox.withLock { $0 }?.send(node, "to-node", message.bytes) }
        let isPartial = sent.count < nodes.count
        var members: [JSONValue.Member] = [.init("request_id", .string(id))]
        if nodes.count == 1 { members.append(.init("status", "success")) }
        if nodes.count > 1 { members.append(.init("responses", .array(responses))) }
        return Response(status: isPartial ? 207 : 200, .object(members))
    }

    /// `GET`: at least one of `request_id`, `node_id` and `status`; `[&cmd_id=]` with a node, `[&start_time=&end_time=]` in seconds,
    /// `[&desc_order=]`, `[&num_records=][&start_id=]`.
    func commandRequests(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let id = call.request.query("request_id")
        let now = now
        let owner = user.id
        var records: [CommandTable.Record]
        if let id {
            records = commands.withLock { table in
                table.expire(at: now)
                return table.list(id, of: owner)
            }
            guard !records.isEmpty else { throw .requestNotFound }
        } else {
            let node = call.request.query("node_id")
            guard node != nil || call.request.query("status") != nil else { throw .requestIDMissing }
            if let node { _ = try ownNode(node, of: user) }
            records = commands.withLock { table in
                table.expire(at: now)
                return table.list(of: owner)
            }
        }
        // This is different in each entry of the list.
        func cursor(_ record: CommandTable.Record) -> String { "\(record.requestID)/\(record.node)" }
        if let node = call.request.query("node_id") { records = records.filter { $0.node == node } }
        if let status = call.request.query("status") { records = records.filter { $0.status.rawValue == status } }
        if let number = try commandNumber(in: call) { records = records.filter { $0.command == number } }
        if let range = try times(in: call) { records = records.filter { range.contains($0.requestedAt / 1000) } }
        if id == nil, try !flag("desc_order", in: call, otherwise: true) { records.reverse() }
        let start = call.request.query("start_id")
        let rest = records.drop { record in start.map { cursor(record) != $0 } ?? false }
        let size = call.request.query("num_records").flatMap { Int($0) } ?? Self.commandPage
        guard size > 0 else { throw .invalidQuery }
        let shown = rest.prefix(min(size, Self.commandPage))
        var members: [JSONValue.Member] = [.init("requests", .array(shown.map(Self.describe)))]
        if let next = rest.dropFirst(shown.count).first { members.append(.init("next_id", .string(cursor(next)))) }
        return Response(.object(members))
    }

    /// `DELETE ?request_id=` or `?node_id=`, or both; `[&cmd_id=]` with a node.
    func cancelCommands(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let (id, node) = (call.request.query("request_id"), call.request.query("node_id"))
        guard id != nil || node != nil else { throw .requestIDMissing }
        if let node { _ = try ownNode(node, of: user) }
        let number = try commandNumber(in: call)
        let now = now
        let count = commands.withLock { table -> Int? in
            table.expire(at: now)
            if let id, table.list(id, of: user.id).isEmpty { return nil }
            return table.end(.cancelled, of: user.id) { record in
                (id ?? record.requestID) == record.requestID && (node ?? record.node) == record.node
                    && (number ?? record.command) == record.command
            }
        }
        guard let count else { throw .requestNotFound }
        return success("Commands cancelled", [.init("total_cancelled", .integer(Int64(count)))])
    }

    private func commandNumber(in call: Call) throws(APIError) -> Int64? {
        guard let text = call.request.query("cmd_id") else { return nil }
        guard call.request.query("node_id") != nil, let number = Int64(text), (0...65535).contains(number) else {
            throw .invalidQuery
        }
        return number
    }

    /// `start_time` and `end_time`, which need each other.
    private func times(in call: Call) throws(APIError) -> ClosedRange<Int64>? {
        let texts = (call.request.query("start_time"), call.request.query("end_time"))
        if texts == (nil, nil) { return nil }
        guard let start = texts.0.flatMap({ Int64($0) }), let end = texts.1.flatMap({ Int64($0) }), start <= end else {
            throw .invalidQuery
        }
        return start...end
    }

    /// Handles a node's answer on `from-node`. An answer without a request asks for missed commands, which are sent anyway.
    func receiveAnswer(of node: String, _ payload: [UInt8]) {
        let now = now
        let message = CommandMessage(payload)
        let isTaken = message.map { message in commands.withLock { $0.answer(message, from: node, at: now) } } ?? false
        journal.node(node, isTaken ? "answered" : "ignored")
    }

    private static func describe(_ record: CommandTable.Record) -> JSONValue {
        let answer = String(validating: record.answer, as: UTF8.self)
        var members: [JSONValue.Member] = [
            .init("node_id", .string(record.node)), .init("request_id", .string(record.requestID)),
            .init("cmd", .integer(record.command)), .init("request_data", record.data),
            .init("is_base64", .bool(record.isBase64)), .init("status", .string(record.status.rawValue)),
            .init("indefinite_timeout", .bool(record.expiresAt == nil)),
            .init("request_timestamp", .integer(record.requestedAt / 1000)),
        ]
        if let status = record.nodeStatus {
            let words = ["success", "failed", "invalid command", "authorization failed", "command not found"]
            members.append(.init("device_status", .integer(Int64(status))))
            members.append(
                .init("status_description", .string(status < words.count ? words[Int(status)] : "unknown")))
        }
        if let time = record.answeredAt {
            let json = answer.flatMap { try? JSONValue(parsing: Array($0.utf8)) }
            let data: JSONValue =
                record.answer.isEmpty
                ? .null
                : record.isBase64 || answer == nil
                    ? .string(Base64.text(record.answer)) : json ?? .string(answer ?? "")
            members.append(.init("response_data", data))
            members.append(.init("response_timestamp", .integer(time / 1000)))
        }
        if let end = record.expiresAt { members.append(.init("expiration_timestamp", .integer(end / 1000))) }
        return .object(members)
    }
}
