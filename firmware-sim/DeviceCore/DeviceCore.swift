// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto

/// A whole board without its transports: endpoint, bytes and session id in, bytes or no answer out.
///
/// It does no I/O and reads no clock. Its caller passes milliseconds with each step, calls ``advance(to:)`` at ``nextDue``, and reads the
/// events with ``takeEvents()``.
public struct DeviceCore<Security: DeviceSecurityScheme, Signer: NodeCredential>: Sendable {
    public let configuration: DeviceConfiguration
    public internal(set) var machine: ProvisioningMachine

    /// The node's id in the cloud. An unclaimed board uses its MAC address.
    public private(set) var nodeID: [UInt8]
    /// The certificate (PEM) from claiming; nil on a board that came with one, or has none yet.
    public private(set) var certificate: [UInt8]?

    private var session: DeviceSession<Security>
    private var claim: AssistedClaim
    private var mapping = UserMapping()
    var challenge: ChallengeResponder<Signer>
    private var events: [DeviceEvent] = []
    /// The service by which a board on its network is put into an account; nil while it does not run.
    var onNetwork: OnNetworkService<Security>?
    private var localData = LocalData()
    /// Nil while it does not run.
    var localControl: LocalControlService<Security>?
    private var wrongProofs: UInt32 = 0
    /// A blocking scan occupies the server, which still owes this session an answer.
    private var owesScanReply = false

    private var isConfigReported = false
    public internal(set) var parameters = NodeParameters()

    /// The firmware's version in the node's configuration. An update changes it.
    public var firmwareVersion = bytes("1.0")

    public init(configuration: DeviceConfiguration, radio: SimulatedRadio, security: Security, signer: Signer?) {
        self.configuration = configuration
        machine = ProvisioningMachine(options: configuration.provisioning, radio: radio)
        session = DeviceSession(configuration.security, security)
        nodeID = configuration.nodeID
        claim = AssistedClaim(macAddress: configuration.macAddress, faults: configuration.claimFaults)
        challenge = ChallengeResponder(signer: signer)
    }

    /// Whether the board can be reached. False once provisioning has stopped.
    public var isServing: Bool { machine.isServing }

    public func serves(_ endpoint: Endpoint) -> Bool {
        isServing && configuration.endpoints.contains { $0.name == endpoint.name }
    }

    public var nextDue: UInt64? {
        guard let stop = onNetwork?.stopDue else { return machine.nextDue }
        return min(stop, machine.nextDue ?? .max)
    }

    public mutating func advance(to now: UInt64) {
        machine.advance(to: now)
        stopOnNetworkService(at: now)
    }

    /// Returns the events since the last call, in order.
    public mutating func takeEvents() -> [DeviceEvent] {
        events.append(contentsOf: machine.takeEvents())
        defer { events = [] }
        return events
    }

    mutating func note(_ event: DeviceEvent) {
        events.append(contentsOf: machine.takeEvents())
        events.append(event)
    }
}

/// A transport's answer for a request.
public enum DeviceAnswer: Sendable, Equatable {
    case reply([UInt8])
    /// The handler failed. Each transport shows this in its own way: silence, or a closed connection.
    case refused
    /// The one server task is busy with this request: call ``DeviceCore/DeviceCore/delayedAnswer(now:)`` again after each due time.
    case later
}

// MARK: Requests

extension DeviceCore {
    /// Ends the present session, and begins another.
    public mutating func openSession(_ id: UInt32) {
        session.open(id)
        owesScanReply = false
        note(.sessionOpened)
    }

    public mutating func respond(
        to request: [UInt8], on endpoint: Endpoint, session id: UInt32, now: UInt64
    ) -> DeviceAnswer {
        machine.advance(to: now)
        guard serves(endpoint) else { return .refused }
        if session.id != id { openSession(id) }
        if machine.state == .stopping, configuration.hasProofOfPossession { session.freeProof() }
        switch endpoint.name {
        case Endpoint.version.name: return .reply(configuration.versionText)
        case Endpoint.session.name: return shakeHands(request, now: now)
        default: return respondInSession(to: request, on: endpoint, now: now)
        }
    }

    /// Returns the answer to a request that got ``DeviceAnswer/later``, once it is available.
    public mutating func delayedAnswer(now: UInt64) -> DeviceAnswer {
        machine.advance(to: now)
        guard owesScanReply else { return .refused }
        guard let reply = machine.blockedScanReply() else { return .later }
        owesScanReply = false
        return encrypted(reply)
    }

    private mutating func shakeHands(_ request: [UInt8], now: UInt64) -> DeviceAnswer {
        switch session.shakeHands(request) {
        case .reply(let reply): return .reply(reply)
        case .established(let reply):
            note(.sessionEstablished)
            return .reply(reply)
        case .wrongProof:
            countWrongProof(now: now)
            return .refused
        case .refused: return .refused
        }
    }

    /// The RainMaker application stops provisioning after some wrong proofs. A right proof in between does not reset the count.
    private mutating func countWrongProof(now: UInt64) {
        wrongProofs += 1
        note(.wrongProof(count: wrongProofs))
        let limit = configuration.provisioning.wrongProofLimit
        if limit > 0, wrongProofs >= limit { machine.stop(now: now) }
    }

    private mutating func respondInSession(to request: [UInt8], on endpoint: Endpoint, now: UInt64) -> DeviceAnswer {
        guard let plain = session.decrypt(request) else { return .refused }
        do throws(HandlerFailure) {
            switch try handle(plain, on: endpoint, now: now) {
            case .reply(let reply): return encrypted(reply)
            case .later:
                owesScanReply = true
                return .later
            }
        } catch { return .refused }
    }

    private mutating func encrypted(_ reply: [UInt8]) -> DeviceAnswer {
        session.encrypt(reply).map { .reply($0) } ?? .refused
    }

    private mutating func handle(
        _ request: [UInt8], on endpoint: Endpoint, now: UInt64
    ) throws(HandlerFailure) -> HandlerResult {
        switch endpoint.name {
        case Endpoint.config.name: return .reply(try machine.respondToConfig(request, now: now))
        case Endpoint.scan.name: return try machine.respondToScan(request, now: now)
        case Endpoint.control.name: return .reply(try machine.respondToControl(request, now: now))
        case Endpoint.userMapping.name:
            let reply = try mapping.respond(to: request, nodeID: nodeID)
            if mapping.pending != nil { note(.userMappingReceived) }
            return .reply(reply)
        case Endpoint.challengeResponse.name:
            guard isClaimed else { throw HandlerFailure() }
            let before = challenge.signatures
            let reply = try challenge.respond(to: request, nodeID: nodeID)
            if challenge.signatures > before { note(.challengeSigned) }
            return .reply(reply)
        case Endpoint.claim.name: return .reply(try respondToClaim(request))
        case Endpoint.getParameters.name:
            return .reply(try localData.respond(to: request, .parameters, current: nodeParameters))
        case Endpoint.getConfiguration.name:
            return .reply(try localData.respond(to: request, .configuration, current: nodeConfiguration))
        case Endpoint.setParameters.name:
            guard LocalData.isObject(request) else {
                return .reply(bytes("{\"status\":\"fail\",\"description\":\"failed to set params\"}"))
            }
            note(.parametersReceived(request))
            return .reply(bytes("{\"status\":\"success\"}"))
        default:
            guard configuration.customEndpoint?.name == endpoint.name else { throw HandlerFailure() }
            note(.customDataReceived(request))
            // wifi_prov_mgr's example answers with this text and its final NUL.
            return .reply(Array("SUCCESS\0".utf8))
        }
    }
}

// MARK: Claiming

extension DeviceCore {
    /// Whether the node has a certificate, from the factory or by a claim.
    public var isClaimed: Bool { configuration.isClaimed || certificate != nil }

    /// The node's key; nil if the board has none.
    public var credential: Signer? { challenge.signer }

    private mutating func respondToClaim(_ request: [UInt8]) throws(HandlerFailure) -> [UInt8] {
        let (reply, outcome) = try claim.respond(to: request, credential: challenge.signer)
        switch outcome {
        case .nothing: break
        case .started: note(.claimStarted)
        case .requested: note(.certificateRequested)
        case .claimed(let id, let certificate):
            (nodeID, self.certificate) = (id, certificate)
            note(.claimed(nodeID: id))
        case .aborted: note(.claimAborted)
        case .refused(let status): note(.claimRefused(status))
        case .reboot:
            restart()
            throw HandlerFailure()
        case .over:
            note(.claimOver)
            throw HandlerFailure()
        }
        return reply
    }

    /// Restarts the board: it loses its memory, and its provisioning service starts again.
    public mutating func restart() {
        note(.rebooted)
        machine = ProvisioningMachine(options: configuration.provisioning, radio: machine.radio)
        mapping = UserMapping()
        claim.restart()
        session.close()
        (owesScanReply, wrongProofs) = (false, 0)
        onNetwork = nil
    }
}

// MARK: The commands of the stock console, which bypass protocomm

extension DeviceCore {
    /// The console's `add-user`.
    public mutating func startUserMapping(userID: [UInt8], secretKey: [UInt8]) {
        mapping.start(userID: userID, secretKey: secretKey)
        note(.userMappingReceived)
    }

    /// The console's `wifi-prov`: uses the provisioning service on a new board, and the driver on a board with credentials. Early firmware
    /// used only the service. Returns false if the service did not accept the credentials; the command itself does not report that.
    @discardableResult
    public mutating func provision(_ credentials: WiFiCredentials, now: UInt64) -> Bool {
        machine.advance(to: now)
        let isEarly = configuration.component == .wifiProvisioning44
        guard machine.isProvisioned, !isEarly else { return machine.configureStation(credentials, now: now) }
        machine.reconfigureStation(credentials, now: now)
        return true
    }

    /// The console's `sign-data`; nil if the board has no key.
    public func sign(_ message: [UInt8]) -> [UInt8]? {
        guard let signer = challenge.signer else { return nil }
        do { return try signer.sign(message) } catch { return nil }
    }
}

// MARK: The cloud

extension DeviceCore {
    /// The next message to publish over the board's connection; nil if none is due. It stays the same until ``published(_:)`` confirms it.
    public var nextPublication: NodePublication? {
        guard isConfigReported else { return configurationMessage }
        return mappingPublication ?? parameters.publication(nodeID: nodeID)
    }

    /// The node's description of itself.
    var configurationMessage: NodePublication {
        NodeMessages.config(
            nodeID: nodeID, version: firmwareVersion, devices: configuration.moreDevices,
            services: configuration.services)
    }

    /// The topic of updates.
    public var updateTopic: [UInt8] { bytes("node/") + nodeID + bytes("/otaurl") }

    private var mappingPublication: NodePublication? {
        guard let pending = mapping.pending else { return nil }
        return NodeMessages.userMapping(
            nodeID: nodeID, userID: pending.userID, secretKey: pending.secretKey)
    }

    /// Records that the broker acknowledged that publication.
    public mutating func published(_ publication: NodePublication) {
        switch publication.kind {
        case .config: isConfigReported = true
        case .userMapping: if publication == mappingPublication { mapping.reported() }
        case .initialParameters, .parameters: parameters.published(publication, nodeID: nodeID)
        case .answer, .message: break
        }
    }

    /// The topic on which the cloud sets parameters.
    public var remoteParametersTopic: [UInt8] { NodeMessages.remoteParameters(nodeID: nodeID) }

    /// Takes new values from the cloud.
    public mutating func setParameters(_ change: NodeParameters.Change) { parameters.apply(change) }

    /// Sets the present values of the services: members of a JSON object. They are reported at each connection. The application reports
    /// changes.
    public mutating func setServices(_ values: [UInt8]) { parameters.services = values }

    /// The topic of commands.
    public var commandTopic: [UInt8] { bytes("node/") + nodeID + bytes("/to-node") }

    /// Records a new connection to the broker. Configuration and parameters are reported at each connection.
    public mutating func connectedToCloud() {
        isConfigReported = false
        parameters.connected()
    }
}

/// The one security session of a protocomm instance. Its id comes from the transport.
struct DeviceSession<Security: DeviceSecurityScheme>: Sendable {
    /// The result of a handshake command.
    enum Handshake {
        case reply([UInt8])
        case established([UInt8])
        /// The client's proof or key is invalid.
        case wrongProof
        case refused
    }

    private let version: SecurityVersion
    private var security: Security
    private(set) var id: UInt32?
    private var cipher: Security.Cipher?
    /// The first command of this session's handshake has been answered.
    private var isHandshaking = false
    /// The firmware has freed its proof of possession, so the keys of later handshakes are wrong.
    private var isProofFreed = false
    /// The key of this handshake was derived from freed memory.
    private var isKeyWrong = false

    init(_ version: SecurityVersion, _ security: Security) {
        self.version = version
        self.security = security
    }

    /// Ends the present session, and begins another.
    mutating func open(_ id: UInt32) { (self.id, cipher, isHandshaking) = (id, nil, false) }

    fileprivate mutating func close() { (id, cipher, isHandshaking, isProofFreed) = (nil, nil, false, false) }

    /// `network_prov_mgr_stop_service` frees the proof of Security 1. protocomm has only a shallow copy of it, which it uses until the
    /// service ends. The key is derived at the first command, so a handshake that has begun succeeds.
    fileprivate mutating func freeProof() { isProofFreed = version == .security1 }

    mutating func shakeHands(_ request: [UInt8]) -> Handshake {
        do throws(HandshakeError) {
            switch try security.respond(to: request) {
            case .reply(let reply):
                cipher = nil
                isHandshaking = true
                isKeyWrong = isProofFreed
                return .reply(reply)
            case .established(let reply, let cipher):
                // A new session does not inherit the handshake of another one.
                guard isHandshaking || version == .security0 else { return .refused }
                guard !isKeyWrong else { return .wrongProof }
                self.cipher = cipher
                return .established(reply)
            }
        } catch {
            switch error {
            // For a first command: the firmware restarts the session before it examines the message.
            case .invalidParameters, .unsafePublicKey:
                cipher = nil
                isHandshaking = false
                return .wrongProof
            // In a session without its own first command, a proof comes too early and is refused, whatever it contains.
            case .proofMismatch where isHandshaking: return .wrongProof
            default: return .refused
            }
        }
    }

    /// Returns nil if the board cannot read the request, or has no session for it.
    mutating func decrypt(_ request: [UInt8]) -> [UInt8]? {
        guard version != .security0 else { return request }
        guard cipher != nil else { return nil }
        do { return try cipher!.decrypt(request) } catch { return nil }
    }

    mutating func encrypt(_ reply: [UInt8]) -> [UInt8]? {
        guard version != .security0 else { return reply }
        guard cipher != nil else { return nil }
        do { return try cipher!.encrypt(reply) } catch { return nil }
    }
}

/// An event inside the board, for its log. No event contains a secret.
public enum DeviceEvent: Sendable, Equatable {
    case sessionOpened
    /// A client proved itself; messages are encrypted from here on.
    case sessionEstablished
    /// A client sent a wrong proof of possession, or a key that no honest client sends. The count never falls.
    case wrongProof(count: UInt32)
    case scanStarted
    case scanFinished(count: UInt32)
    case credentialsReceived(ssid: [UInt8])
    /// One attempt failed and another follows; `remaining` is 0 if there is no limit.
    case attemptFailed(DisconnectReason, remaining: UInt32)
    case joinFailed(DisconnectReason, WiFiConnectFailure)
    /// The station was disconnected while the provisioning service did not handle the driver's events.
    case disconnected(DisconnectReason)
    case resetAfterFailure
    /// The station has an address: the board is on the network.
    case joined(ssid: [UInt8], channel: UInt32)
    case userMappingReceived
    /// Data for the application's own endpoint.
    case customDataReceived([UInt8])
    /// New values for the node, as JSON, from a client in the provisioning session.
    case parametersReceived([UInt8])
    case challengeSigned
    case claimStarted
    /// The last fragment of the certificate request was sent.
    case certificateRequested
    /// The board has its certificate, and this is the node's id from now on.
    case claimed(nodeID: [UInt8])
    case claimAborted
    case claimRefused(ClaimStatus)
    /// A claim command came after a claim had ended since the board's start.
    case claimOver
    /// The board lost its memory; its transports stop and start again.
    case rebooted
    /// The service of a board on its network listens.
    case onNetworkStarted
    /// A client of that service sent a wrong proof of possession, which is not counted.
    case onNetworkProofRefused
    /// A client has disabled challenge and response: that service accepts no more challenges, and stops soon.
    case onNetworkDisabled
    case onNetworkStopped
    /// Local control listens.
    case localControlStarted
    case serviceStopping
    case serviceStopped
}
