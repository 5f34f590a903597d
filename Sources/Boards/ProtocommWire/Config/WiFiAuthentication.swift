/// `WifiAuthMode`. Firmware copies ESP-IDF's `wifi_auth_mode_t`, so values beyond the ones of the schema (0 to 7) do appear.
public struct WiFiAuthentication: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let open = WiFiAuthentication(rawValue: 0)
    public static let wep = WiFiAuthentication(rawValue: 1)
    public static let wpaPSK = WiFiAuthentication(rawValue: 2)
    public static let wpa2PSK = WiFiAuthentication(rawValue: 3)
    public static let wpaWPA2PSK = WiFiAuthentication(rawValue: 4)
    public static let wpa2Enterprise = WiFiAuthentication(rawValue: 5)
    public static let wpa3PSK = WiFiAuthentication(rawValue: 6)
    public static let wpa2WPA3PSK = WiFiAuthentication(rawValue: 7)
    public static let wapiPSK = WiFiAuthentication(rawValue: 8)
    /// Opportunistic wireless encryption: encrypted, without a passphrase.
    public static let owe = WiFiAuthentication(rawValue: 9)
    public static let wpa3Enterprise192 = WiFiAuthentication(rawValue: 10)
    public static let dpp = WiFiAuthentication(rawValue: 13)
    public static let wpa3Enterprise = WiFiAuthentication(rawValue: 14)
    public static let wpa2WPA3Enterprise = WiFiAuthentication(rawValue: 15)
    public static let wpaEnterprise = WiFiAuthentication(rawValue: 16)
}
