// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker
import RainPrivateFiles
import Synchronization

/// Keeps pending mappings between runs, one for each node.
///
/// A run calls its store even after it was cancelled, to save what it leaves; each call must do its work then too. No call waits without a
/// bound, and none blocks the calling thread. `PendingMappingStoreConformance` in RainKitTesting checks these promises.
public protocol PendingMappingStore: Sendable {
    /// Returns the mappings in the order in which they were last saved.
    func all() async throws(RecordStoreError) -> [PendingMapping]
    /// Adds the mapping at the end, and removes the earlier one of the same node. Once this returns, a mapping in a persistent store
    /// survives the process.
    func save(_ mapping: PendingMapping) async throws(RecordStoreError)
    /// Removes the node's mapping. A node without one is not an error.
    func remove(node: NodeID) async throws(RecordStoreError)
    /// Reserves a node's mapping for one run, until the run releases the value or its process ends. Meanwhile no other run that uses the
    /// store may finish the mapping, not even in another process. The mapping need not be in the store yet.
    /// - Returns: nil, without waiting, while another run has it.
    func hold(node: NodeID) async throws(RecordStoreError) -> PendingMappingHold?
}

extension PendingMappingStore {
    /// Removes that user's pending mappings, except those that another run is working on.
    /// - Returns: the nodes whose mappings were removed.
    package func forgetAll(of user: UserID) async throws(RecordStoreError) -> [NodeID] {
        var nodes: [NodeID] = []
        for mapping in try await all() where mapping.user == user {
            guard let hold = try await hold(node: mapping.node) else { continue }
            defer { withExtendedLifetime(hold) {} }
            // Another run may have finished it in the meantime.
            guard try await all().contains(where: { $0.node == mapping.node && $0.user == user }) else { continue }
            try await remove(node: mapping.node)
            nodes.append(mapping.node)
        }
        return nodes
    }
}

/// The data that a later run needs to finish a mapping.
public struct PendingMapping: Sendable, Equatable {
    /// The proof for the cloud that the user had the board.
    public enum Proof: Sendable, Equatable {
        /// The user's half of a mapping by secret, and the cloud's request once the PUT went through.
        case secret(MappingSecret, request: RequestID?)
        /// A signature that the cloud has not seen yet.
        case signature([UInt8], request: RequestID)
    }

    /// How far the board had come when the run ended.
    public enum Stage: String, Sendable {
        /// The board has been associated. It has no Wi-Fi credentials of this run, or failed to join with them.
        case associated
        /// The board accepted Wi-Fi credentials. It may be online by now.
        case applied
        /// The board was seen on its network.
        case online
    }

    /// The board's node id; there is one pending mapping for each.
    public var node: NodeID
    /// The node's future user. Only a run of this user finishes the mapping.
    public var user: UserID
    /// The secret or signature for the cloud, which may have received it already.
    public var proof: Proof
    /// Decides whether a later run has to talk to the board again.
    public var stage: Stage
    /// How the board was reached.
    public var peer: String
    /// The board's name on its label, if it was known; see ``OnboardingRequest/label``.
    public var label: String?
    /// The tags and metadata for this node.
    public var notes: MappingNotes
    /// When the board was associated; nil in records of earlier versions.
    public var since: UnixTime?

    public init(
        node: NodeID, user: UserID, proof: Proof, stage: Stage, peer: String, label: String? = nil,
        notes: MappingNotes = MappingNotes(), since: UnixTime? = nil
    ) {
        self.node = node
        self.user = user
        self.proof = proof
        self.stage = stage
        self.peer = peer
        self.label = label
        self.notes = notes
        self.since = since
    }

    /// Whether both are about the same secret or signature of the same node, however far each has come.
    func isSameAssociation(as other: PendingMapping) -> Bool {
        guard node == other.node, user == other.user else { return false }
        switch (proof, other.proof) {
        case (.secret(let one, _), .secret(let another, _)): return one == another
        case (.signature(let one, _), .signature(let another, _)): return one == another
        default: return false
        }
    }
}

/// Keeps other runs away from a node's pending mapping, until it is released.
public final class PendingMappingHold: Sendable {
    private let release: @Sendable () -> Void

    /// - Parameter release: called once, when nothing refers to the value any longer.
    public init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// Keeps pending mappings in memory until the process ends: for tests, and for programs with their own storage.
public final class InMemoryPendingMappings: PendingMappingStore {
    private let mappings: Mutex<[PendingMapping]>
    private let held = Mutex<Set<NodeID>>([])

    public init(_ mappings: [PendingMapping] = []) { self.mappings = Mutex(mappings) }

    public func all() -> [PendingMapping] { mappings.withLock { $0 } }

    public func save(_ mapping: PendingMapping) {
        mappings.withLock { mappings in
            mappings.removeAll { $0.node == mapping.node }
            mappings.append(mapping)
        }
    }

    public func remove(node: NodeID) {
        mappings.withLock { $0.removeAll { $0.node == node } }
    }

    public func hold(node: NodeID) -> PendingMappingHold? {
        guard held.withLock({ $0.insert(node).inserted }) else { return nil }
        return PendingMappingHold { [self] in held.withLock { _ = $0.remove(node) } }
    }
}

/// Keeps pending mappings in one private file, for the processes of one user. A file that cannot be read is an error and is not changed,
/// since its content exists nowhere else.
///
/// The file is read and written on a thread of the store's own. A call waits for those before it, and for at most five seconds while
/// another process has the file.
public struct FilePendingMappings: PendingMappingStore {
    private let file: RecordFile<StoredMapping>

    /// - Parameter path: the JSON file. The store creates it and its folder when it first saves a mapping.
    public init(path: String) { self.init(path: path) {} }

    /// - Parameter beforeAccess: called on the thread that reads and writes the file, before each call's work.
    package init(path: String, beforeAccess: @escaping @Sendable () -> Void) {
        // More mappings than anyone leaves unfinished.
        file = RecordFile(
            RecordFileContent(path: path, identity: \.node, maximumEntries: 1000, whenUnreadable: .error),
            beforeAccess: beforeAccess)
    }

    public func all() async throws(RecordStoreError) -> [PendingMapping] { try await file.all().compactMap(\.mapping) }
    public func save(_ mapping: PendingMapping) async throws(RecordStoreError) {
        try await file.save(StoredMapping(mapping))
    }
    public func remove(node: NodeID) async throws(RecordStoreError) { try await file.remove(node.rawValue) }

    public func hold(node: NodeID) async throws(RecordStoreError) -> PendingMappingHold? {
        try await file.access { content throws(RecordStoreError) in
            do throws(PrivateFileError) {
                guard let lock = try NameLock.take(node.rawValue, beside: content.path) else { return nil }
                return PendingMappingHold { withExtendedLifetime(lock) {} }
            } catch {
                throw RecordStoreError(path: content.path, message: "\(error)")
            }
        }
    }
}

/// A pending mapping as it is stored in the file.
struct StoredMapping: Codable {
    var node: String
    var user: String
    var stage: String
    var peer: String
    var label: String?
    var secret: String?
    var signature: StoredBytes?
    var request: String?
    var tags: [String]?
    var metadata: String?
    var since: Double?

    init(_ mapping: PendingMapping) {
        node = mapping.node.rawValue
        user = mapping.user.rawValue
        stage = mapping.stage.rawValue
        peer = mapping.peer
        label = mapping.label
        tags = mapping.notes.tags.isEmpty ? nil : mapping.notes.tags
        metadata = mapping.notes.metadata
        since = mapping.since?.seconds
        switch mapping.proof {
        case .secret(let secret, let request):
            self.secret = secret.secret.revealString()
            self.request = request?.rawValue
        case .signature(let signature, let request):
            self.signature = StoredBytes(bytes: signature)
            self.request = request.rawValue
        }
    }

    /// Nil for a record of a later version that this version does not know; the record stays in the file.
    var mapping: PendingMapping? {
        guard let stage = PendingMapping.Stage(rawValue: stage) else { return nil }
        let proof: PendingMapping.Proof
        if let secret {
            proof = .secret(MappingSecret(Secret(secret)), request: request.map { RequestID($0) })
        } else if let signature, let request {
            proof = .signature(signature.bytes, request: RequestID(request))
        } else {
            return nil
        }
        return PendingMapping(
            node: NodeID(node), user: UserID(user), proof: proof, stage: stage, peer: peer, label: label,
            notes: MappingNotes(tags: tags ?? [], metadata: metadata), since: since.map { UnixTime(seconds: $0) })
    }
}

/// Bytes as hexadecimal digits. Earlier versions wrote a list of numbers, which is still read. With such lists, a thousand signatures
/// exceed the file's size limit.
struct StoredBytes: Codable, Sendable {
    var bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            bytes = try container.decode([UInt8].self)
            return
        }
        let digits = try text.utf8.map { digit throws -> UInt8 in
            guard let value = Self.digits.firstIndex(of: digit) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal digits")
            }
            return UInt8(value)
        }
        guard digits.count.isMultiple(of: 2) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "an odd number of hexadecimal digits")
        }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let digits = bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 0xF)]] }
        try container.encode(String(decoding: digits, as: UTF8.self))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
