// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// One way in, or on, and whether a provider has it.
public struct ProviderCapability: Sendable, Equatable {
    /// The way in; ``GrantName/refreshToken`` is the way on.
    public var grant: GrantName
    /// Why not; nil if the provider has it.
    public var whyNot: String?

    /// Whether the definition has the grant. Some need a client secret besides.
    public var isAvailable: Bool { whyNot == nil }
}

extension ProviderDefinition {
    /// What the provider can do, and why it cannot do the rest.
    public var capabilities: [ProviderCapability] {
        GrantName.all.map { grant in
            if grants?[grant.rawValue] != nil { return ProviderCapability(grant: grant) }
            return ProviderCapability(
                grant: grant, whyNot: unsupported?[grant.rawValue] ?? "\(title ?? id) does not offer it")
        }
    }
}

extension ProviderDefinition {
    /// The grant that a mode stands for; nil if there is no such mode.
    public func grant(ofMode mode: String) -> GrantName? {
        guard modes?.contains(mode) == true else { return nil }
        return GrantName(rawValue: modeGrants?[mode] ?? mode)
    }

    /// How people usually sign in at the provider's page: as the first of the modes that leads there, else by a code, else by tokens at
    /// once where there are no codes.
    public var usualBrowserGrant: GrantName {
        if let grant = (modes ?? []).lazy.compactMap({ grant(ofMode: $0) }).first(where: \.isInBrowser) { return grant }
        let has = { (grant: GrantName) in grants?[grant.rawValue] != nil }
        return has(.authorizationCode) || !has(.implicit) ? .authorizationCode : .implicit
    }
}
