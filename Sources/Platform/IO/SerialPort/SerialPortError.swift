// SPDX-License-Identifier: Apache-2.0

/// Why a port could not be used.
public struct SerialPortError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `notATerminal`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case notFound, denied, busy, notATerminal, lost, closed, cancelled, failed }
        private let value: Value
        public var description: String { value.rawValue }

        /// Nothing is there under that name.
        public static let notFound = Code(value: .notFound)
        /// The file system does not let this user open it.
        public static let denied = Code(value: .denied)
        /// Another program holds the port.
        public static let busy = Code(value: .busy)
        /// It is a file, but not a serial port.
        public static let notATerminal = Code(value: .notATerminal)
        /// The cable or the adapter is gone.
        public static let lost = Code(value: .lost)
        /// This side closed the port.
        public static let closed = Code(value: .closed)
        /// The task was cancelled, or another reader has taken the place of this one.
        public static let cancelled = Code(value: .cancelled)
        /// The system refused for another reason, which the message names.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The port's path, such as `/dev/ttyUSB0`.
    public var path: String
    /// What happened and what to try.
    public var message: String

    public init(_ code: Code, path: String, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    public var description: String { "\(code): \(message) (\(path))" }
}

extension SerialPortError {
    /// Who holds it is found out by whoever opened it (``SerialPort/holders(of:in:)``): that takes some milliseconds.
    static func busy(_ path: String) -> SerialPortError {
        SerialPortError(
            .busy, path: path, message: "Another program holds this port. Close its serial monitor and try again.")
    }
}
