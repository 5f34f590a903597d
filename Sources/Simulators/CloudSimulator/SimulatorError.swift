// SPDX-License-Identifier: Apache-2.0

/// Why the simulator cannot start or go on. The message says what to try.
public struct SimulatorError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable {
        private enum Value { case usage, unavailable, storage, crypto }
        private let value: Value

        /// An option makes no sense.
        public static let usage = Code(value: .usage)
        /// Something that it needs is missing or taken: mosquitto, a port.
        public static let unavailable = Code(value: .unavailable)
        /// The data folder cannot be read or written.
        public static let storage = Code(value: .storage)
        /// libcrypto failed.
        public static let crypto = Code(value: .crypto)
    }

    public var code: Code
    public var description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
