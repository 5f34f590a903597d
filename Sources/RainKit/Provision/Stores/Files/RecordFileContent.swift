// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainPrivateFiles

/// Records of one kind in one private file, at most one of each identity, for the processes of one user.
///
/// Each change reads, changes and replaces the whole file while it holds its lock, so that processes do not lose each other's. All of
/// it blocks: ``RecordFile`` does it on a thread of its own.
struct RecordFileContent<Record: Codable & Sendable>: Sendable {
    /// What a file is taken for in which there is something else.
    enum Unreadable: Sendable { case error, empty }

    private let file: PrivateFile
    var path: String { file.path }
    private let identity: any KeyPath<Record, String> & Sendable
    private let maximumEntries: Int
    private let unreadable: Unreadable

    /// - Parameter maximumEntries: the oldest go when there are more.
    init(
        path: String, identity: any KeyPath<Record, String> & Sendable, maximumEntries: Int,
        whenUnreadable unreadable: Unreadable
    ) {
        file = PrivateFile(path: path)
        self.identity = identity
        self.maximumEntries = maximumEntries
        self.unreadable = unreadable
    }

    func all() throws(RecordStoreError) -> [Record] {
        do { return try decoded(try file.read()) } catch { throw failure(error) }
    }

    /// Puts the record behind the others, in place of the one that it replaces.
    func save(_ record: Record) throws(RecordStoreError) {
        try change { records in
            records.removeAll { $0[keyPath: identity] == record[keyPath: identity] }
            records.append(record)
            records = records.suffix(maximumEntries)
        }
    }

    func remove(_ name: String) throws(RecordStoreError) {
        // Nothing is made where there is nothing to remove.
        guard try all().contains(where: { $0[keyPath: identity] == name }) else { return }
        try change { records in records.removeAll { $0[keyPath: identity] == name } }
    }

    private func change(_ body: (inout [Record]) -> Void) throws(RecordStoreError) {
        do {
            try file.update { bytes in
                var records = try decoded(bytes)
                body(&records)
                return (records.isEmpty ? nil : try JSONCoder.encode(records), ())
            }
        } catch {
            throw failure(error)
        }
    }

    private func decoded(_ bytes: [UInt8]?) throws -> [Record] {
        guard let bytes else { return [] }
        do {
            return try JSONCoder.decode([Record].self, from: bytes)
        } catch {
            if unreadable == .empty { return [] }
            throw RecordStoreError(path: path, message: "it cannot be read (\(error)); remove it to go on")
        }
    }

    private func failure(_ error: any Error) -> RecordStoreError {
        if let error = error as? RecordStoreError { return error }
        var failure = RecordStoreError(path: path, message: "\(error)")
        failure.isLocked = (error as? PrivateFileError)?.code == .locked
        return failure
    }
}
