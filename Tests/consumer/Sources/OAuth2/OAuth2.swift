// SPDX-License-Identifier: Apache-2.0

/// The consumer's own.
public enum OAuth2Module {
    public static let name = "OAuth2"
}
