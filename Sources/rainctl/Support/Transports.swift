// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The ways to boards that rainctl has. A transport of your own is one more line here: see docs/adding-a-transport.md.
enum Transports {
    static let registered: [any BoardTransport] =
        .standard
        + []

    /// Those that an option belongs to.
    static func having(option name: String) -> [any BoardTransport] {
        registered.filter { $0.options.contains { $0.name == name } }
    }
}

/// `auto`, or the scheme of a registered transport.
struct TransportName: ExpressibleByArgument, Equatable {
    /// Nil for `auto`.
    let scheme: String?

    static let auto = TransportName(scheme: nil)

    private init(scheme: String?) { self.scheme = scheme }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        scheme = argument == "auto" ? nil : argument
    }

    static var allValueStrings: [String] { ["auto"] + Transports.registered.map(\.scheme) }
    var defaultValueDescription: String { scheme ?? "auto" }
}

/// The same for transports that can find boards.
struct DiscoveryTransportName: ExpressibleByArgument, Equatable {
    /// Nil for all of them.
    let scheme: String?

    static let auto = DiscoveryTransportName(scheme: nil)

    private init(scheme: String?) { self.scheme = scheme }

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        scheme = argument == "auto" ? nil : argument
    }

    static var allValueStrings: [String] {
        ["auto"] + Transports.registered.filter(\.canDiscover).map(\.scheme)
    }
    var defaultValueDescription: String { scheme ?? "auto" }
}
