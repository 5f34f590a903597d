// SPDX-License-Identifier: Apache-2.0

/// The version of this library and of what is made of it. `scripts/version` reads it here.
public enum RainKitVersion {
    /// As in semantic versioning.
    public static let current = "0.2.0"
}
