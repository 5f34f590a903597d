// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum HTTPCoreModule {
    public static let name = "HTTPCore"
}
