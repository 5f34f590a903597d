// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum DBusModule {
    public static let name = "DBus"
}
