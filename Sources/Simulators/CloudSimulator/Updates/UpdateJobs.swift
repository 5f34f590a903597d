// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// Updates that somebody has made in the dashboard (OTA jobs), and how far each node is. A restart loses them.
struct UpdateJobTable: Sendable {
    struct Job: Sendable {
        var id: String
        var nodes: [String]
        var url: String
        var version: String
        var size: Int
        var md5: String
        var metadata: JSONValue?
        /// The node's model and type must be these; nil for any.
        var model: String?
        var type: String?
        /// Whether nothing is sent to a node until its user approves the update.
        var needsApproval: Bool
        /// The approved nodes.
        var approved: Set<String> = []
        /// The state by node.
        var states: [String: State] = [:]
    }

    struct State: Sendable, Equatable {
        var status: String
        var info: String
        /// Seconds since 1970.
        var time: Int64

        /// The job is over for the node. After `failed` and `delayed` it is offered again.
        var isOver: Bool { status == "success" || status == "rejected" }
    }

    /// The maximum number of jobs. Beyond it the oldest are dropped.
    private static let maximum = 1000
    /// The states that firmware reports.
    private static let reported: Set<String> = ["in-progress", "success", "failed", "delayed", "rejected"]
    /// The maximum length of a node's text; the firmware's buffer for the whole report has 200 bytes.
    private static let longestInfo = 256

    private var jobs: [Job] = []

    mutating func add(_ job: Job, at seconds: Int64) {
        var job = job
        for node in job.nodes { job.states[node] = State(status: "triggered", info: "", time: seconds) }
        jobs.append(job)
        if jobs.count > Self.maximum { jobs.removeFirst() }
    }

    mutating func remove(_ id: String) -> Bool {
        let count = jobs.count
        jobs.removeAll { $0.id == id }
        return jobs.count < count
    }

    func job(_ id: String, for node: String) -> Job? { jobs.last { $0.id == id && $0.nodes.contains(node) } }

    /// Returns the newest update that waits for a node.
    ///
    /// - Parameter isForNode: only updates that the node gets without its user, or with the approval that the user has given.
    func waiting(for node: Node, isForNode: Bool = false) -> Job? {
        let info = node.config?["info"]
        return jobs.last { job in
            job.nodes.contains(node.id) && job.states[node.id]?.isOver == false
                && (job.model.map { $0 == info?["model"]?.string } ?? true)
                && (job.type.map { $0 == info?["type"]?.string } ?? true)
                && (!isForNode || !job.needsApproval || job.approved.contains(node.id))
        }
    }

    mutating func approve(_ id: String, for node: String, at seconds: Int64) {
        guard let index = jobs.lastIndex(where: { $0.id == id && $0.nodes.contains(node) }) else { return }
        jobs[index].approved.insert(node)
        // The state of an attempt that is under way stays.
        guard jobs[index].states[node]?.status != "in-progress" else { return }
        jobs[index].states[node] = State(status: "started", info: "", time: seconds)
    }

    /// Takes a node's report. Returns false if it is not about an update of that node that is still open.
    mutating func report(_ message: JSONValue, from node: String, at seconds: Int64) -> Bool {
        guard let id = message["ota_job_id"]?.string, let status = message["status"]?.string,
            Self.reported.contains(status),
            let index = jobs.lastIndex(where: { $0.id == id && $0.nodes.contains(node) }),
            jobs[index].states[node]?.isOver == false
        else { return false }
        let info = String((message["additional_info"]?.string ?? "").prefix(Self.longestInfo))
        jobs[index].states[node] = State(status: status, info: info, time: message["ts"]?.integer ?? seconds)
        return true
    }
}

extension UpdateJobTable.Job {
    /// The message on `otaurl`.
    fileprivate var order: JSONValue {
        var members: [JSONValue.Member] = [
            .init("ota_job_id", .string(id)), .init("url", .string(url)), .init("fw_version", .string(version)),
            .init("file_size", .integer(Int64(size))), .init("file_md5", .string(md5)),
        ]
        if let metadata { members.append(.init("metadata", metadata)) }
        return .object(members)
    }
}

/// `user/nodes/ota_update` and `ota_status`, the nodes' `otafetch` and `otastatus`, and the jobs that tests make.
extension CloudAPI {
    private static let jobMissing = APIError(404, 100012, "OTA job does not exist")
    private static let jobOver = APIError(100012, "OTA job is already completed for the node")

    /// `GET ota_update?node_id=`.
    func updateForNode(_ call: Call) throws(APIError) -> Response {
        let node = try namedNode(call)
        guard let job = updates.withLock({ $0.waiting(for: node) }) else {
            return Response(["status": "success", "ota_available": false, "description": "No OTA update available"])
        }
        let head: [JSONValue.Member] = [
            .init("status", "success"), .init("ota_available", true), .init("description", "OTA update available"),
        ]
        return Response(.object(head + (job.order.members ?? [])))
    }

    /// `POST ota_update` with `{"ota_job_id","node_id"}`: the user's approval. The node gets the image's address.
    func startUpdate(_ call: Call) throws(APIError) -> Response {
        let body = try call.body()
        guard let id = try body.string("ota_job_id"), let nodeID = try body.string("node_id") else {
            throw .invalidBody
        }
        let node = try ownNode(nodeID, of: try call.caller())
        let seconds = now / 1000
        guard let job = updates.withLock({ $0.job(id, for: node.id) }) else { throw Self.jobMissing }
        guard job.states[node.id]?.isOver == false else { throw Self.jobOver }
        updates.withLock { $0.approve(id, for: node.id, at: seconds) }
        order(job, to: node.id)
        return success("OTA update is started")
    }

    /// `GET ota_status?node_id=&ota_job_id=`.
    func updateState(_ call: Call) throws(APIError) -> Response {
        let node = try namedNode(call)
        guard let id = call.request.query("ota_job_id") else { throw .invalidQuery }
        guard let state = updates.withLock({ $0.job(id, for: node.id)?.states[node.id] }) else { throw Self.jobMissing }
        return Response([
            "node_id": .string(node.id), "status": .string(state.status), "additional_info": .string(state.info),
            "timestamp": .integer(state.time),
        ])
    }

    /// Handles a node's question for an update.
    func receiveUpdateFetch(of id: String) {
        journal.node(id, "otafetch")
        guard let node = readState({ $0.nodes[id] }),
            let job = updates.withLock({ $0.waiting(for: node, isForNode: true) })
        else { return }
        order(job, to: id)
    }

    /// Handles a node's report about an update.
    func receiveUpdateReport(of node: String, _ message: JSONValue) {
        let seconds = now / 1000
        let isTaken = updates.withLock { $0.report(message, from: node, at: seconds) }
        journal.node(node, isTaken ? "otastatus" : "ignored")
    }

    private func order(_ job: UpdateJobTable.Job, to node: String) {
        outbox.withLock { $0 }?.send(node, "otaurl", job.order.serialized())
    }

    /// `POST /_sim/ota_job`: what an admin does in the dashboard. `{"nodes":[…],"image":BASE64}`, or `"url"` instead of the image.
    func makeUpdateJob(_ request: Request) throws(APIError) -> Response {
        let limits = JSONLimits(
            maximumBytes: RequestParser.maximumImageBody, maximumDepth: 16, maximumValues: 20_000)
        guard let value = try? JSONValue(parsing: request.body, limits: limits), value.members != nil else {
            throw .invalidBody
        }
        let body = Fields(value: value)
        let nodes = try Self.names(value["nodes"])
        guard !nodes.isEmpty, nodes.allSatisfy({ id in readState { $0.nodes[id] != nil } }) else { throw .nodesMissing }
        let image = value["image"]?.string.flatMap { decodedBase64($0) }
        guard image.map({ !$0.isEmpty && $0.count <= Self.maximumImage }) ?? (value["image"] == nil) else {
            throw .invalidBody
        }
        let given = try body.string("url")
        guard let url = image.map({ keep(image: $0) }) ?? given else { throw .invalidBody }
        let metadata = value["metadata"]?.unlessNull
        if let metadata { guard metadata.members != nil else { throw .invalidBody } }
        let job = UpdateJobTable.Job(
            id: try body.string("id") ?? Self.shortID(), nodes: nodes, url: given ?? url,
            version: try body.string("fw_version") ?? image.flatMap(Self.version) ?? "",
            size: try body.integer("file_size").map { Int(clamping: $0) } ?? image?.count ?? 0,
            md5: try body.string("file_md5") ?? image.map { Hex.text(OpenSSLHashes.md5($0)) } ?? "", metadata: metadata,
            model: try body.string("model"), type: try body.string("type"),
            needsApproval: try body.bool("user_approval") ?? false)
        let seconds = now / 1000
        updates.withLock { $0.add(job, at: seconds) }
        if !job.needsApproval {
            for id in nodes {
                guard let node = readState({ $0.nodes[id] }), updates.withLock({ $0.waiting(for: node) })?.id == job.id
                else { continue }
                order(job, to: id)
            }
        }
        return success("OTA job created", [.init("ota_job_id", .string(job.id)), .init("image_url", .string(job.url))])
    }

    /// `POST /_sim/ota_cancel` with `{"ota_job_id"}`: the dashboard archives the job.
    func cancelUpdateJob(_ body: Fields) throws(APIError) -> Response {
        guard let id = try body.string("ota_job_id"), updates.withLock({ $0.remove(id) }) else { throw Self.jobMissing }
        return success("OTA job cancelled")
    }

    /// The version in an image's description (`esp_app_desc_t`); nil for bytes without one.
    private static func version(_ image: [UInt8]) -> String? {
        guard image.count >= 80, image[32..<36].elementsEqual([0x32, 0x54, 0xCD, 0xAB]) else { return nil }
        return String(decoding: image[48..<80].prefix { $0 != 0 }, as: UTF8.self)
    }
}
