// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The protocomm instance of `esp_rmaker_on_network_chal_resp.c` (esp-rainmaker 1.8.9 and newer): `ch_resp` over HTTP on the board's own
/// network, with its own session.
struct OnNetworkService<Security: DeviceSecurityScheme>: Sendable {
    /// `STOP_DELAY_US`: the client that has disabled the service still gets its answer.
    fileprivate static var stopDelay: UInt64 { 2000 }

    fileprivate var session: DeviceSession<Security>
    /// When the service stops, once a client has disabled it.
    var stopDue: UInt64?

    fileprivate init(_ session: DeviceSession<Security>) { self.session = session }

    fileprivate static var endpoints: [Endpoint] { [.localControlVersion, .localControlSession, .challengeResponse] }

    /// `VERSION_STRING`: it names no security scheme, which is only in the TXT record.
    fileprivate static var version: [UInt8] { bytes("{\"on_network\":{\"ver\":\"v1.0\",\"cap\":[\"ch_resp\"]}}") }
}

/// The service of a board on its network: `esp_rmaker_on_network_chal_resp_start` and its requests.
extension DeviceCore {
    public func servesOnNetwork(_ endpoint: Endpoint) -> Bool {
        onNetwork != nil && OnNetworkService<Security>.endpoints.contains { $0.name == endpoint.name }
    }

    /// Starts the service, and enables challenge and response again. Does nothing if it already runs.
    /// - Parameter security: the board's side of its scheme, only for sessions of this service.
    public mutating func startOnNetworkService(security: Security) {
        guard onNetwork == nil else { return }
        challenge.enable()
        onNetwork = OnNetworkService(DeviceSession(configuration.security, security))
        note(.onNetworkStarted)
    }

    /// Starts a board that was set up before: it has no provisioning service, and is on its network at once.
    public mutating func startProvisioned() { machine.startProvisioned() }

    public mutating func openOnNetworkSession(_ id: UInt32) {
        onNetwork?.session.open(id)
        note(.sessionOpened)
    }

    public mutating func respondOnNetwork(
        to request: [UInt8], on endpoint: Endpoint, session id: UInt32, now: UInt64
    ) -> DeviceAnswer {
        advance(to: now)
        guard servesOnNetwork(endpoint) else { return .refused }
        if onNetwork?.session.id != id { openOnNetworkSession(id) }
        switch endpoint.name {
        case Endpoint.localControlVersion.name: return .reply(OnNetworkService<Security>.version)
        case Endpoint.localControlSession.name: return shakeHandsOnNetwork(request)
        default: return signOnNetwork(request, now: now)
        }
    }

    private mutating func shakeHandsOnNetwork(_ request: [UInt8]) -> DeviceAnswer {
        switch onNetwork?.session.shakeHands(request) {
        case .reply(let reply)?: return .reply(reply)
        case .established(let reply)?:
            note(.sessionEstablished)
            return .reply(reply)
        // They are not counted here, only in provisioning.
        case .wrongProof?:
            note(.onNetworkProofRefused)
            return .refused
        case .refused?, nil: return .refused
        }
    }

    private mutating func signOnNetwork(_ request: [UInt8], now: UInt64) -> DeviceAnswer {
        guard let plain = onNetwork?.session.decrypt(request), isClaimed else { return .refused }
        let (signatures, wasDisabled) = (challenge.signatures, challenge.isDisabled)
        let reply: [UInt8]
        do throws(HandlerFailure) {
            reply = try challenge.respond(to: plain, nodeID: nodeID)
        } catch { return .refused }
        if challenge.signatures > signatures { note(.challengeSigned) }
        if challenge.isDisabled, !wasDisabled {
            onNetwork?.stopDue = now + OnNetworkService<Security>.stopDelay
            note(.onNetworkDisabled)
        }
        return onNetwork?.session.encrypt(reply).map { .reply($0) } ?? .refused
    }

    mutating func stopOnNetworkService(at now: UInt64) {
        guard let due = onNetwork?.stopDue, due <= now else { return }
        onNetwork = nil
        note(.onNetworkStopped)
    }
}
