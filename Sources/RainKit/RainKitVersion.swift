// SPDX-License-Identifier: Apache-2.0

/// The version of this library and its programs. `scripts/version` reads it here.
public enum RainKitVersion {
    /// The version, by the rules of semantic versioning.
    public static let current = "0.3.0"
}
