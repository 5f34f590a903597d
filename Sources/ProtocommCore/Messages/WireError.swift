// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the message they were taken for.
public enum WireError: Error, Equatable, Sendable {
    /// The bytes end in the middle of a field.
    case truncated
    /// A varint has more than ten bytes or does not fit in 64 bits.
    case varintOverflow
    /// A field number of 0, or one beyond 2^29 - 1.
    case invalidFieldNumber
    /// A known field arrived with another wire type than the schema gives it.
    case wrongWireType(field: UInt32)
    /// Groups (wire types 3 and 4) and the undefined types 6 and 7 are not in use here.
    case unsupportedWireType
    /// More repeated entries than the bound for that field allows.
    case tooManyEntries(field: UInt32)
}
