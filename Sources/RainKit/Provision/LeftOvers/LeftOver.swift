// SPDX-License-Identifier: Apache-2.0

/// A mapping that an earlier run could not finish, held for this one.
struct LeftOver: Sendable {
    var mapping: PendingMapping
    var hold: PendingMappingHold?
}
