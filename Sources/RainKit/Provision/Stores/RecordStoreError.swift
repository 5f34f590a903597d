// SPDX-License-Identifier: Apache-2.0

/// A store of what runs leave to each other, of pending mappings or of claimed boards, could not be read or written.
public struct RecordStoreError: Error, Sendable, CustomStringConvertible {
    /// The file; a store of another kind names its place here.
    public var path: String
    /// What went wrong, without the path and without a full stop. Holds no secret.
    public var message: String
    /// Another process kept the lock of the file for too long.
    var isLocked = false

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { "\(path): \(message)" }
}
