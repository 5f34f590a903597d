// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// What a service that speaks protocomm over HTTP calls its session and its version; all other endpoints keep their names.
public struct HTTPEndpointNames: Sendable, Equatable {
    /// In the place of `prov-session`.
    public var session: Endpoint
    /// In the place of `proto-ver`.
    public var version: Endpoint

    public init(session: Endpoint, version: Endpoint) {
        self.session = session
        self.version = version
    }

    /// Provisioning: `network_provisioning` and `wifi_provisioning`.
    public static let provisioning = HTTPEndpointNames(session: .session, version: .version)
    /// Local control, and RainMaker's on-network service, which takes its names (`esp_rmaker_on_network_chal_resp.c`).
    public static let localControl = HTTPEndpointNames(
        session: .localControlSession, version: .localControlVersion)

    func name(of endpoint: Endpoint) -> Endpoint {
        switch endpoint {
        case .session: session
        case .version: version
        default: endpoint
        }
    }
}
