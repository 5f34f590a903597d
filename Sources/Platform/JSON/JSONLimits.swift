// SPDX-License-Identifier: Apache-2.0

/// What a JSON text may cost its reader.
public struct JSONLimits: Sendable {
    /// The longest text, in bytes.
    public var maximumBytes: Int
    /// How many arrays and objects may lie in one another. 1 allows `[1]` and refuses `[[1]]`.
    public var maximumDepth: Int
    /// How many values the text may hold. A value takes up to some hundred bytes of memory, even if it is two in the text.
    public var maximumValues: Int

    public init(maximumBytes: Int = 1 << 20, maximumDepth: Int = 32, maximumValues: Int = 100_000) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
    }

    /// 1 MiB, 32 levels and 100,000 values.
    public static let `default` = JSONLimits()
}
