// SPDX-License-Identifier: Apache-2.0

/// Bytes written as hex digits, for test vectors. White space is skipped.
public func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
    precondition(digits.count.isMultiple(of: 2), "an odd number of hex digits")
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

public func hexString(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
