// SPDX-License-Identifier: Apache-2.0

/// What a board prints of itself when it starts, as far as that was heard.
public struct PrintedIdentity: Sendable, Equatable {
    /// Such as `esp32c3`.
    public var chip: String?
    /// Of the chip, such as `v0.4`.
    public var revision: String?
    /// Of its Wi-Fi station, such as `7C:DF:A1:00:00:01`.
    public var macAddress: String?
    /// The application's name, such as `led_light`.
    public var application: String?
    /// The application's version.
    public var applicationVersion: String?
    /// The version of ESP-IDF.
    public var framework: String?
    /// Why it started, in plain words.
    public var startReason: String?
    /// What its provisioning service is called.
    public var serviceName: String?
    /// Whether it has Wi-Fi settings of earlier, and waits for no others.
    public var isProvisioned = false
    /// Its address on Wi-Fi.
    public var address: String?

    public init() {}
}
