// SPDX-License-Identifier: Apache-2.0

/// Which promise a store of pending mappings or claimed boards has broken, and how.
public struct RecordStoreFailure: Error, CustomStringConvertible {
    /// What every such store promises, as one sentence.
    public var promise: String
    /// What the store did instead.
    public var detail: String
    public var description: String { "\(promise): \(detail)" }
}
