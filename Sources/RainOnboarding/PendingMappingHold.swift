/// Keeps other runs away from a node's pending mapping, until it is let go.
public final class PendingMappingHold: Sendable {
    private let release: @Sendable () -> Void

    /// - Parameter release: called once, when the value is let go.
    public init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}
