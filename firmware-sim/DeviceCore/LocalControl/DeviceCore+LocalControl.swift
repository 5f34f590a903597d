// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// ESP-IDF's local control on RainMaker nodes (`esp_local_ctrl`, esp-rainmaker's `esp_rmaker_local_ctrl.c`): a separate protocomm instance
/// on the board's network, with its own session.
struct LocalControlService<Security: DeviceSecurityScheme>: Sendable {
    var session: DeviceSession<Security>

    fileprivate static var endpoints: [Endpoint] { [.localControlVersion, .localControlSession, .localControl] }
}

/// The result of a request to local control.
public enum LocalControlStep: Sendable, Equatable {
    case answer(DeviceAnswer)
    /// A decrypted message for the application. Pass its answer to ``DeviceCore/DeviceCore/sealLocally(_:)``.
    case control([UInt8])
}

extension DeviceCore {
    public func servesLocally(_ endpoint: Endpoint) -> Bool {
        localControl != nil && LocalControlService<Security>.endpoints.contains { $0.name == endpoint.name }
    }

    /// - Parameter security: the board's side of its scheme, only for sessions of this service.
    public mutating func startLocalControl(security: Security) {
        guard localControl == nil else { return }
        localControl = LocalControlService(session: DeviceSession(configuration.security, security))
        note(.localControlStarted)
    }

    public mutating func openLocalSession(_ id: UInt32) {
        localControl?.session.open(id)
        note(.sessionOpened)
    }

    public mutating func respondLocally(
        to request: [UInt8], on endpoint: Endpoint, session id: UInt32
    ) -> LocalControlStep {
        guard servesLocally(endpoint) else { return .answer(.refused) }
        if localControl?.session.id != id { openLocalSession(id) }
        switch endpoint.name {
        case Endpoint.localControlVersion.name: return .answer(.reply(localControlVersion))
        case Endpoint.localControlSession.name:
            switch localControl?.session.shakeHands(request) {
            case .reply(let reply)?: return .answer(.reply(reply))
            case .established(let reply)?:
                note(.sessionEstablished)
                return .answer(.reply(reply))
            case .wrongProof?:
                note(.onNetworkProofRefused)
                return .answer(.refused)
            case .refused?, nil: return .answer(.refused)
            }
        default:
            guard let plain = localControl?.session.decrypt(request) else { return .answer(.refused) }
            return .control(plain)
        }
    }

    public mutating func sealLocally(_ reply: [UInt8]) -> DeviceAnswer {
        localControl?.session.encrypt(reply).map { .reply($0) } ?? .refused
    }

    /// Returns `{"local_ctrl":{"ver":"v1.0","sec_ver":1,"sec_patch_ver":0}}`.
    private var localControlVersion: [UInt8] {
        var text = bytes("{\"local_ctrl\":{\"ver\":\"v1.0\",\"sec_ver\":")
        let security = configuration.security
        text.append(security == .security0 ? "0" : security == .security1 ? "1" : "2")
        text.append(",\"sec_patch_ver\":")
        text.append(security == .security2 && configuration.patchVersion == 1 ? "1" : "0")
        text.append("}}")
        return text
    }

    /// The two properties of a RainMaker node, as JSON.
    public var nodeConfiguration: [UInt8] {
        configurationMessage.payload
    }
    public var nodeParameters: [UInt8] { parameters.all(nodeID: nodeID).payload }
}
