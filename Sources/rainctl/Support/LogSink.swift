// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import Synchronization

/// Where log lines go: standard error, or a file that only its owner reads.
final class LogSink: Sendable {
    private let descriptor: Int32
    /// The file; nil for standard error.
    private let path: String?
    private let format: LogFormat
    private let turn = Mutex(())

    /// Throws `cannot_write` if the file cannot be opened.
    init(path: String?, format: LogFormat) throws(CommandFailure) {
        self.format = format
        self.path = path
        guard let path else {
            descriptor = STDERR_FILENO
            return
        }
        descriptor = try PrivateLogFile.open(path)
    }

    func write(level: Logger.Level, label: String, message: String, metadata: Logger.Metadata) {
        let line: String
        switch format {
        case .text:
            let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\("\($0.value)".onOneLine)" }.joined()
            line = "\(Timestamp.text(Timestamp.now())) \(level) \(label): \(message.onOneLine)\(pairs)\n"
        case .json:
            line = JSONText.line(
                LogLine(
                    time: Timestamp.text(Timestamp.now()), level: level, label: label, message: message,
                    metadata: metadata))
        }
        // One write for each line, so that lines of several threads do not mix.
        let failure = turn.withLock { _ in StandardStreams.write(Array(line.utf8), to: descriptor) }
        if let failure, let path { PrivateLogFile.failed(failure, at: path) }
    }
}

struct SinkLogHandler: LogHandler {
    let label: String
    let sink: LogSink
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        sink.write(
            level: event.level, label: label, message: "\(event.message)",
            metadata: metadata.merging(event.metadata ?? [:]) { $1 })
    }
}
