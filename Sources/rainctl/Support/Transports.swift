// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainIO
import RainKit

/// The transports of rainctl. Your own transport is one more line here: see docs/internals/adding-a-transport.md.
enum Transports {
    static let registered = make()

    /// Makes them with connections of their own.
    static func make() -> [any BoardTransport] {
        .standard(in: SystemFiles(root: root))
            + []
    }

    /// Boards on cables.
    static var serial: SerialBoards { SerialBoards(in: SystemFiles(root: root)) }

    /// The folder in which a container sees its host's `/dev`, `/sys`, `/proc` and `/run`.
    private static var root: String { getenv("RAINKIT_SYSTEM_ROOT").map { String(cString: $0) } ?? "" }

    /// The transports with an option.
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

/// The name of a transport.
struct TransportName: TransportArgument {
    let scheme: String?
    static var schemes: [String] { Transports.registered.map(\.scheme) }

    /// Whether the named transport leads to boards that are already on their network.
    var isForConnectedBoards: Bool {
        Transports.registered.contains { $0.scheme == scheme && $0.isForConnectedBoards }
    }
}

/// The place to search for boards; `auto` searches everywhere.
struct DiscoveryTransportName: TransportArgument {
    let scheme: String?
    static var schemes: [String] { Transports.registered.filter(\.canDiscover).map(\.scheme) }
}
