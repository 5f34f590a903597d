// SPDX-License-Identifier: Apache-2.0

/// `WifiAuthMode`. Firmware copies ESP-IDF's `wifi_auth_mode_t`, so values beyond the ones of the schema (0 to 7) do appear.
public struct WiFiAuthentication: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No password.
    public static let open = WiFiAuthentication(rawValue: 0)
    /// WEP.
    public static let wep = WiFiAuthentication(rawValue: 1)
    /// WPA-Personal.
    public static let wpaPSK = WiFiAuthentication(rawValue: 2)
    /// WPA2-Personal.
    public static let wpa2PSK = WiFiAuthentication(rawValue: 3)
    /// WPA- and WPA2-Personal.
    public static let wpaWPA2PSK = WiFiAuthentication(rawValue: 4)
    /// WPA2-Enterprise.
    public static let wpa2Enterprise = WiFiAuthentication(rawValue: 5)
    /// WPA3-Personal.
    public static let wpa3PSK = WiFiAuthentication(rawValue: 6)
    /// WPA2- and WPA3-Personal.
    public static let wpa2WPA3PSK = WiFiAuthentication(rawValue: 7)
    /// WAPI with a password.
    public static let wapiPSK = WiFiAuthentication(rawValue: 8)
    /// Opportunistic wireless encryption: encrypted, without a passphrase.
    public static let owe = WiFiAuthentication(rawValue: 9)
    /// WPA3-Enterprise with 192 bits.
    public static let wpa3Enterprise192 = WiFiAuthentication(rawValue: 10)
    /// Device Provisioning Protocol (Wi-Fi Easy Connect).
    public static let dpp = WiFiAuthentication(rawValue: 13)
    /// WPA3-Enterprise.
    public static let wpa3Enterprise = WiFiAuthentication(rawValue: 14)
    /// WPA2- and WPA3-Enterprise.
    public static let wpa2WPA3Enterprise = WiFiAuthentication(rawValue: 15)
    /// WPA-Enterprise.
    public static let wpaEnterprise = WiFiAuthentication(rawValue: 16)
}
