// SPDX-License-Identifier: Apache-2.0

/// `SecSchemeVersion`: the number that `proto-ver` calls `sec_ver`.
public struct SecurityVersion: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No encryption.
    public static let security0 = SecurityVersion(rawValue: 0)
    /// X25519 and AES-CTR, with a proof of possession.
    public static let security1 = SecurityVersion(rawValue: 1)
    /// SRP6a and AES-GCM, with a user name and a password.
    public static let security2 = SecurityVersion(rawValue: 2)
}
