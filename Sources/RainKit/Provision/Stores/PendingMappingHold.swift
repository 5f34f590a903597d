// SPDX-License-Identifier: Apache-2.0

/// Keeps other runs away from a node's pending mapping, until it is released.
public final class PendingMappingHold: Sendable {
    private let release: @Sendable () -> Void

    /// - Parameter release: called once, when nothing refers to the value any longer.
    public init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}
