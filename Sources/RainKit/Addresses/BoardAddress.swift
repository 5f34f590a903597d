// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// Where a board is: the scheme of a transport, and what that transport calls the place.
///
/// ```swift
/// let cable: BoardAddress = .serial("/dev/ttyUSB0")
/// let typed = try BoardAddress("ble:PROV_a1b2c3?adapter=hci1")
/// ```
///
/// The text form is `SCHEME:LOCATION` with `?name=value&…` behind it. Without a location it means the only board, or the usual place, of
/// that transport. Any scheme may be named here; which ones are understood is ``RainKitConfiguration/transports``.
public struct BoardAddress: Hashable, Sendable, CustomStringConvertible {
    /// The transport: `serial`, `ble`, `softap`, or what a program has registered.
    public var scheme: String
    /// A path, a name, a host; nil for the only board.
    public var location: String?
    /// What the transport wants to know besides, such as `adapter`.
    public var parameters: [String: String]

    public init(scheme: String, location: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.location = location
        self.parameters = parameters
    }

    /// Reads the text form. Throws `invalidArgument` for text without a scheme, and for a parameter without a value.
    public init(_ text: String) throws(ProvisioningError) {
        guard let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) else {
            throw ProvisioningError(
                .invalidArgument, message: "A board's address is a transport and a place, such as serial:/dev/ttyUSB0.")
        }
        let rest = text[text.index(after: colon)...]
        let mark = rest.firstIndex(of: "?")
        let location = String(rest[..<(mark ?? rest.endIndex)])
        self.init(scheme: String(text[..<colon]), location: location.isEmpty ? nil : location)
        guard let mark else { return }
        for pair in rest[rest.index(after: mark)...].split(separator: "&") {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw ProvisioningError(
                    .invalidArgument, message: "A board's address has parameters of the form name=value.")
            }
            parameters[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
    }

    /// The text form.
    public var description: String {
        let more = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return "\(scheme):\(location ?? "")\(more.isEmpty ? "" : "?\(more)")"
    }

    private static func isScheme(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
