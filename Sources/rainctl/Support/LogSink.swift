// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainCore
import RainKit
import RainPrivateFiles
import Synchronization

/// The destination of log lines: standard error, or a file that only its owner can read.
final class LogSink: Sendable {
    private let descriptor: Int32
    /// The file; nil for standard error.
    private let path: String?
    private let format: LogFormat
    private let turn = Mutex(())

    /// Opens the log. Throws `cannot_write` if the file cannot be opened.
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
            line = "\(Timestamp.now) \(level) \(label): \(message.onOneLine)\(pairs)\n"
        case .json:
            line = JSONText.line(
                LogLine(
                    time: Timestamp.now, level: level, label: label, message: message,
                    metadata: metadata))
        }
        guard let path else { return Screen.shared.write(String(line.dropLast()), indent: nil) }
        // One write for each line, so that lines of several threads do not mix.
        let failure = turn.withLock { _ in StandardStreams.write(Array(line.utf8), to: descriptor) }
        if let failure { PrivateLogFile.failed(failure, at: path) }
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

/// A line of the log in `--log-format json`: the members of every line, then its metadata, sorted by name.
struct LogLine: Encodable {
    let time: String
    let level: Logger.Level
    let label: String
    let message: String
    let metadata: Logger.Metadata

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case level, label, message
    }

    func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) where CodingKeys(rawValue: name) == nil {
            switch Self.number(value) {
            case .integer(let number)?: members.add(name, number)
            case .fraction(let number)?: members.add(name, number)
            case nil: members.add(name, "\(value)")
            }
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode("\(level)", forKey: .level)
        try container.encode(label, forKey: .label)
        try container.encode(message, forKey: .message)
        try members.encode(to: encoder)
    }
}

extension LogLine {
    private enum Number { case integer(Int64), fraction(Double) }

    /// The number of a value that the log got as a number. Text with digits stays text, so that a member always has one type.
    private static func number(_ value: Logger.MetadataValue) -> Number? {
        guard case .stringConvertible(let value) = value else { return nil }
        if let integer = value as? any BinaryInteger { return Int64(exactly: integer).map { .integer($0) } }
        if let number = value as? any BinaryFloatingPoint, Double(number).isFinite { return .fraction(Double(number)) }
        return nil
    }
}

/// A file to which lines are appended, and that only its owner can read.
enum PrivateLogFile {
    /// A log that could not be written completely. The missing lines are lost.
    struct Incomplete: Sendable {
        var path: String
        /// The number of the system's error.
        var failure: Int32
    }

    /// The first log of the process that could not be written completely.
    static var incomplete: Incomplete? { firstIncomplete.withLock { $0 } }
    private static let firstIncomplete = Mutex<Incomplete?>(nil)

    /// Records that a line could not be written. The first failure of the process is reported as a warning.
    static func failed(_ failure: Int32, at path: String) {
        let isFirst = firstIncomplete.withLock { first in
            defer { first = first ?? Incomplete(path: path, failure: failure) }
            return first == nil
        }
        guard isFirst else { return }
        Output().warn(
            "The log cannot be written to \(path.onOneLine): \(systemWords(failure)).", reason: "cannot_write")
    }

    /// Opens the file. Throws `cannot_write` if that fails, or if others can read it.
    static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotWrite,
                message: "The log cannot be written to \(path.onOneLine): \(writeProblem(errno, at: path)).")
        }
        do throws(CommandFailure) {
            try makePrivate(descriptor, path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Makes an existing file private. Others may have read permission, or may have made it.
    private static func makePrivate(_ descriptor: Int32, _ path: String) throws(CommandFailure) {
        var status = stat()
        // For a terminal, a pipe or /dev/null, the user knows who reads it.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        guard status.st_uid == geteuid() else {
            throw CommandFailure(
                .cannotWrite,
                message: "The log is not written to \(path), which belongs to another user: name another file.")
        }
        guard status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 else { return }
        throw CommandFailure(
            .cannotWrite, message: "The log is not written to \(path), which others may read: run chmod 600 on it.")
    }
}

/// A file for the lines that a board prints on its cable, each with its time. Only its owner can read it.
final class DeviceLogFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let turn = Mutex(())

    /// Opens the file. Throws `cannot_write`.
    init(_ path: String) throws(CommandFailure) {
        descriptor = try PrivateLogFile.open(path)
        self.path = path
    }

    func write(_ line: String) {
        let text = Array("\(Timestamp.now) \(line.onOneLine)\n".utf8)
        let failure = turn.withLock { _ in StandardStreams.write(text, to: descriptor) }
        if let failure { PrivateLogFile.failed(failure, at: path) }
    }

    deinit { Glibc.close(descriptor) }
}
