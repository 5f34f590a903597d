// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum JSONModule {
    public static let name = "JSON"
}
