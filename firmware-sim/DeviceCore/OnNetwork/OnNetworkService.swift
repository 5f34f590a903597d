// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The protocomm instance of `esp_rmaker_on_network_chal_resp.c` (esp-rainmaker 1.8.9 and newer): `ch_resp` over HTTP on the board's own
/// network, with a session of its own.
struct OnNetworkService<Security: DeviceSecurityScheme>: Sendable {
    /// `STOP_DELAY_US`: the client that has disabled it still gets its answer.
    static var stopDelay: UInt64 { 2000 }

    var session: DeviceSession<Security>
    /// When it stops, once a client has disabled it.
    var stopDue: UInt64?

    init(_ session: DeviceSession<Security>) { self.session = session }

    static var endpoints: [Endpoint] { [.localControlVersion, .localControlSession, .challengeResponse] }

    /// `VERSION_STRING`: it names no security scheme, which stands in the TXT record alone.
    static var version: [UInt8] { bytes("{\"on_network\":{\"ver\":\"v1.0\",\"cap\":[\"ch_resp\"]}}") }
}
