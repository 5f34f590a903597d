// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// Everything that was logged, as one text.
public final class CapturedLog: Sendable {
    private let lines = Mutex<[(Logger.Level, String)]>([])

    public init() {}

    public var handler: Handler { Handler(log: self) }
    public var text: String { lines.withLock { $0.map(\.1).joined(separator: "\n") } }
    public var levels: [Logger.Level] { lines.withLock { $0.map(\.0) } }

    public struct Handler: LogHandler {
        let log: CapturedLog
        public var metadata: Logger.Metadata = [:]
        public var logLevel = Logger.Level.trace
        public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        public func log(event: LogEvent) {
            log.lines.withLock { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
        }
    }
}
