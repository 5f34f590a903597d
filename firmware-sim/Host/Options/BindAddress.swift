// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `HOST:PORT` of an option.
struct BindAddress: ExpressibleByArgument, CustomStringConvertible, Equatable {
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), colon > argument.startIndex,
            let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        self.init(host: String(argument[..<colon]), port: port)
    }

    /// An IPv6 address stands in brackets.
    var isVersion6: Bool { host.hasPrefix("[") && host.hasSuffix("]") }

    var description: String { "\(host):\(port)" }
}
