// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum ThreadsModule {
    public static let name = "Threads"
}
