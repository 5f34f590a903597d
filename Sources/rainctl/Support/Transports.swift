// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// The ways to boards that rainctl has. A transport of your own is one more line here: see docs/internals/adding-a-transport.md.
enum Transports {
    static let registered: [any BoardTransport] =
        .standard(in: SystemFiles(root: root))
        + []

    /// Where a container sees its host's `/dev`, `/sys`, `/proc` and `/run`.
    private static var root: String { getenv("RAINKIT_SYSTEM_ROOT").map { String(cString: $0) } ?? "" }

    /// Those that an option belongs to.
    static func having(option name: String) -> [any BoardTransport] {
        registered.filter { $0.options.contains { $0.name == name } }
    }
}

/// `auto`, or the scheme of a registered transport.
protocol TransportArgument: ExpressibleByArgument {
    /// Nil for `auto`.
    var scheme: String? { get }
    init(scheme: String?)
    /// The schemes that may be named.
    static var schemes: [String] { get }
}

extension TransportArgument {
    static var auto: Self { Self(scheme: nil) }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(scheme: argument == "auto" ? nil : argument)
    }

    static var allValueStrings: [String] { ["auto"] + schemes }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    var defaultValueDescription: String { scheme ?? "auto" }
}

/// A way to a board.
struct TransportName: TransportArgument {
    let scheme: String?
    static var schemes: [String] { Transports.registered.map(\.scheme) }

    /// Whether the transport that is named leads to boards that are on their network already.
    var isForConnectedBoards: Bool {
        Transports.registered.contains { $0.scheme == scheme && $0.isForConnectedBoards }
    }
}

/// Where to look for boards; `auto` looks everywhere.
struct DiscoveryTransportName: TransportArgument {
    let scheme: String?
    static var schemes: [String] { Transports.registered.filter(\.canDiscover).map(\.scheme) }
}
