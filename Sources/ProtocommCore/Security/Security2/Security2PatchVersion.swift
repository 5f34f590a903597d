// SPDX-License-Identifier: Apache-2.0

/// `sec_patch_ver`: how the nonces of Security 2 come about.
public struct Security2PatchVersion: Sendable, Equatable {
    public let rawValue: Int

    /// 16 random bytes, the same for every message (firmware without `sec_patch_ver`).
    public static let constantNonce = Security2PatchVersion(rawValue: 0)
    /// 8 random bytes and a 32-bit counter that both directions share.
    public static let countedNonce = Security2PatchVersion(rawValue: 1)

    /// From `prov.sec_patch_ver`, 0 where that is absent; nil for one that is not known.
    public init?(_ number: Int) {
        guard number == 0 || number == 1 else { return nil }
        rawValue = number
    }

    private init(rawValue: Int) { self.rawValue = rawValue }

    var nonceLength: Int { self == .constantNonce ? 16 : 12 }
}
