// SPDX-License-Identifier: Apache-2.0

/// Whether two byte strings are the same, in a time that depends on their lengths only.
public func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
