// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The codes that a simulated cloud has sent to its users: the file of `cloud-sim --mailbox`.
public struct ReceivedCodes: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// The code that came last for this purpose: `signup`, `login`, `mfa`, `password_reset`, `delete`, `phone`, `guest_conversion`.
    public func code(_ kind: String, to receiver: String) throws -> String {
        let messages = try Journal(path: path).entries(where: ["kind": .string(kind), "to": .string(receiver)])
        guard let code = messages.last?["code"]?.string else { throw ProcessError("no \(kind) code for \(receiver)") }
        return code
    }

    /// All codes up to now.
    public var codes: [String] { ((try? Journal(path: path).entries()) ?? []).compactMap { $0["code"]?.string } }
}
