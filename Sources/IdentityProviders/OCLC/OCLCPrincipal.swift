// SPDX-License-Identifier: Apache-2.0

/// Whom OCLC knows a user to be: an id, and the namespace of the institution or service that gave it.
public struct OCLCPrincipal: Sendable, Hashable {
    /// `principalID`.
    public var id: String
    /// `principalIDNS`, such as `urn:oclc:platform:128807`.
    public var namespace: String

    /// nil unless both fit between the quotation marks of a header field.
    public init?(id: String, namespace: String) {
        let fits = { (text: String) in
            (1...256).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        }
        guard fits(id), fits(namespace) else { return nil }
        self.id = id
        self.namespace = namespace
    }

    /// As an `Authorization` header has it.
    var headerFields: String { "principalID=\"\(id)\", principalIDNS=\"\(namespace)\"" }
}
