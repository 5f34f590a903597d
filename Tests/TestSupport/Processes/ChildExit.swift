// SPDX-License-Identifier: Apache-2.0

/// How a process ended.
public enum ChildExit: Sendable, Equatable, CustomStringConvertible {
    case exited(Int)
    case signalled(Int)

    public var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}

/// A child did not start, or did not do in time what a test waits for.
public struct ProcessError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
