// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum HashingModule {
    public static let name = "Hashing"
}
