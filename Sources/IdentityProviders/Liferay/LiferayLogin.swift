// SPDX-License-Identifier: Apache-2.0

/// What a user of a portal signs in with. The portal is set up for one kind, and refuses the others.
public struct LiferayLogin: Sendable, Equatable {
    /// What the name is: an e-mail address, the screen name that the user chose, or the user's number in the portal.
    public enum Kind: String, Sendable, CaseIterable { case email, screenName, userId }

    /// What the name is sent as.
    public var kind: Kind
    /// What the user entered, unchanged.
    public var name: String

    /// - Parameter kind: nil to go by what the name looks like.
    public init(_ name: String, kind: Kind? = nil) {
        self.kind = kind ?? Self.guess(name)
        self.name = name
    }

    /// Whether the name can be one of its kind at all.
    var isPossible: Bool { kind != .userId || Int64(name).map { $0 > 0 } ?? false }

    /// Liferay's mobile SDK guesses the same: an `@` makes an e-mail address, digits alone a user's id.
    private static func guess(_ name: String) -> Kind {
        if name.utf8.contains(UInt8(ascii: "@")) { return .email }
        return !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) } ? .userId : .screenName
    }
}
