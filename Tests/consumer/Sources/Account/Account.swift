// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum AccountModule {
    public static let name = "Account"
}
