// SPDX-License-Identifier: Apache-2.0

/// A Wi-Fi adapter that NetworkManager manages.
public struct WiFiDevice: Sendable, Hashable {
    /// Its object.
    public var path: String
    /// The interface's name, such as `wlan0`.
    public var interface: String
    /// NMDeviceState: 20 is unavailable, 30 disconnected, 100 activated.
    var state: Int

    /// Whether it can look for networks now: it is not when Wi-Fi is switched off.
    public var isReady: Bool { state >= 30 }

    init?(path: String, _ properties: DBusValue) {
        // NM_DEVICE_TYPE_WIFI; unmanaged devices have the state 10.
        guard properties["DeviceType"]?.integer == 2, let interface = properties["Interface"]?.text,
            let state = properties["State"]?.integer, state > 10
        else { return nil }
        self.path = path
        self.interface = interface
        self.state = state
    }
}
