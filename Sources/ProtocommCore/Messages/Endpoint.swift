// SPDX-License-Identifier: Apache-2.0

/// The name of a board's handler: a path over HTTP, a characteristic over BLE, the first word on the console.
public struct Endpoint: Hashable, Sendable {
    /// ASCII, without a leading slash.
    public let name: [UInt8]

    public init(_ name: StaticString) {
        self.name = name.withUTF8Buffer { Array($0) }
    }

    public init(name: [UInt8]) { self.name = name }

    /// Answers with the board's version and capabilities, in clear and before any session.
    public static let version = Endpoint("proto-ver")
    /// Carries the security handshake, in clear.
    public static let session = Endpoint("prov-session")
    /// Accepts Wi-Fi settings and reports the progress of joining.
    public static let config = Endpoint("prov-config")
    /// Scans for networks.
    public static let scan = Endpoint("prov-scan")
    /// Makes the board forget its settings, so that it accepts others.
    public static let control = Endpoint("prov-ctrl")
    /// RainMaker: user-node mapping by a shared secret.
    public static let userMapping = Endpoint("cloud_user_assoc")
    /// RainMaker: user-node mapping by challenge and response.
    public static let challengeResponse = Endpoint("ch_resp")
    /// Local control and the on-network service use this instead of ``version``.
    public static let localControlVersion = Endpoint("esp_local_ctrl/version")
    /// Local control and the on-network service use this instead of ``session``.
    public static let localControlSession = Endpoint("esp_local_ctrl/session")
    /// ``LocalControlMessage``: a node's properties.
    public static let localControl = Endpoint("esp_local_ctrl/control")
    /// RainMaker: ``LocalDataPayload``, the values of the node's parameters.
    public static let getParameters = Endpoint("get_params")
    /// RainMaker: new values, as JSON.
    public static let setParameters = Endpoint("set_params")
    /// RainMaker: ``LocalDataPayload``, the node's configuration.
    public static let getConfiguration = Endpoint("get_config")
    /// RainMaker: assisted claiming.
    public static let claim = Endpoint("rmaker_claim")
}

#if !hasFeature(Embedded)
    extension Endpoint: CustomStringConvertible {
        public var description: String { String(decoding: name, as: UTF8.self) }
    }
#endif
