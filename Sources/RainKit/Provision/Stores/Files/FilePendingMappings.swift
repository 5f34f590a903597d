// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainPrivateFiles

/// Pending mappings in one private file, for the processes of one user. One that cannot be read is an error, and is left as it is:
/// what is in it cannot be had in another way.
///
/// The file is read and written on a thread of the store's own. A call waits for those before it, and for at most five seconds while another
/// process has the file.
public struct FilePendingMappings: PendingMappingStore {
    private let file: RecordFile<StoredMapping>

    /// - Parameter path: the JSON file; it and its folder are made when a mapping is first kept.
    public init(path: String) { self.init(path: path) {} }

    /// - Parameter beforeAccess: called on the thread that reads and writes the file, before each call's work.
    package init(path: String, beforeAccess: @escaping @Sendable () -> Void) {
        // More than anyone leaves unfinished.
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
