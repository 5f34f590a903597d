// SPDX-License-Identifier: Apache-2.0
import RainCore
import DeviceCore
import Glibc
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

typealias SimulatedCore = DeviceCore<DeviceSecurity<OpenSSLCrypto, BoardRandom>, NodeKey>

/// The services of a board for clients. Provisioning and the services on the network have separate sessions.
enum BoardService {
    case provisioning
    /// Challenge and response of a board on its network.
    case onNetwork
    /// The node's properties on its network.
    case localControl

    /// The name in the journal.
    var transport: String {
        switch self {
        case .provisioning: "http"
        case .onNetwork: "on-network"
        case .localControl: "local-control"
        }
    }
}

/// A board of this process: its core, its clock, and the observers of its events.
final class Board: EventSource {
    private(set) var core: SimulatedCore
    let identity: BoardIdentity
    let credentials: NodeFiles
    let journal: Journal
    private let logLevel: LogLevel
    private var random: BoardRandom
    /// The board's side of its scheme, for the on-network service.
    private let security: DeviceSecurity<OpenSSLCrypto, BoardRandom>
    private var observers: [(DeviceEvent) -> Void] = []
    /// The due time of the core. It is stored because the loop reads it for each of many boards in every pass.
    private(set) var due: UInt64?
    /// The application's services besides the light.
    private(set) var services: NodeServices
    /// The changes that are to be reported to the cloud.
    private var reports: [JSONValue] = []
    /// The messages of time series that are to be sent. They are lost while the board is offline.
    private var series: [Sensor.Message] = []
    /// Messages that wait until the board is online.
    private var messages: [Sensor.Message] = []
    /// The address of the image that is to be downloaded.
    private(set) var wantedImage: String?
    /// What the application raises when the cloud sets values.
    private let alerts: Alerts
    /// The application requests a restart.
    private(set) var isRestarting = false
    /// The board sends no more answers: its power is lost with the last request.
    var isMute = false

    fileprivate init(
        core: SimulatedCore, identity: BoardIdentity, credentials: NodeFiles, journal: Journal, logLevel: LogLevel,
        random: BoardRandom, security: DeviceSecurity<OpenSSLCrypto, BoardRandom>, services: NodeServices,
        alerts: Alerts
    ) {
        self.services = services
        self.alerts = alerts
        self.security = security
        self.core = core
        self.identity = identity
        self.credentials = credentials
        self.journal = journal
        self.logLevel = logLevel
        self.random = random
        due = core.nextDue
        self.core.setServices(services.members)
    }

    /// Calls `observer` with each event, after it was written to the journal.
    func observe(_ observer: @escaping (DeviceEvent) -> Void) { observers.append(observer) }

    /// Writes a line to standard error, if that was requested. Never a secret.
    func log(_ level: LogLevel, _ subject: String, _ message: @autoclosure () -> String) {
        guard level <= logLevel else { return }
        let line = Array("\(MonotonicClock.now) \(level.rawValue) \(subject): \(message())\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The node's present id: a claim changes it.
    var nodeID: String { String(decoding: core.nodeID, as: UTF8.self) }

    /// The firmware's own application starts the service once the board is on its network.
    func startLocalControl() { step { $0.startLocalControl(security: security) } }

    func startOnNetworkService() { step { $0.startOnNetworkService(security: security) } }

    func newSessionID() -> UInt32 { random.number() }

    // MARK: Requests

    func openSession(_ id: UInt32, with service: BoardService = .provisioning) {
        step {
            switch service {
            case .provisioning: $0.openSession(id)
            case .onNetwork: $0.openOnNetworkSession(id)
            case .localControl: $0.openLocalSession(id)
            }
        }
    }

    func serves(_ endpoint: Endpoint, _ service: BoardService) -> Bool {
        switch service {
        case .provisioning: core.serves(endpoint)
        case .onNetwork: core.servesOnNetwork(endpoint)
        case .localControl: core.servesLocally(endpoint)
        }
    }

    func respond(
        to request: [UInt8], on endpoint: Endpoint, session: UInt32, transport: String,
        with service: BoardService = .provisioning
    ) -> DeviceAnswer {
        let now = MonotonicClock.now
        let answer =
            switch service {
            case .provisioning: step { $0.respond(to: request, on: endpoint, session: session, now: now) }
            case .onNetwork: step { $0.respondOnNetwork(to: request, on: endpoint, session: session, now: now) }
            case .localControl: respondLocally(to: request, on: endpoint, session: session, now: now)
            }
        journal.request(
            transport: transport, endpoint: endpoint, length: request.count,
            outcome: answer == .refused ? "refused" : isMute ? "lost" : "reply")
        log(.info, transport, "\(endpoint), \(request.count) bytes: \(answer == .refused ? "refused" : "answered")")
        return isMute ? .later : answer
    }

    private func respondLocally(
        to request: [UInt8], on endpoint: Endpoint, session: UInt32, now: UInt64
    ) -> DeviceAnswer {
        switch step({ $0.respondLocally(to: request, on: endpoint, session: session) }) {
        case .answer(let answer): return answer
        case .control(let message):
            guard let reply = LocalProperties(self, now: now).answer(to: message) else { return .refused }
            return step { $0.sealLocally(reply) }
        }
    }

    // MARK: The application

    /// Applies values that the cloud, or a client on the network, sets.
    func set(_ values: JSONValue, now: UInt64) {
        journal.state("parameters_set")
        step { $0.setParameters(NodeParameters.Change(values)) }
        messages += alerts.messages(for: values)
        carryOut(services.set(values, at: .now(now)))
    }

    /// Takes a message about an update from the cloud.
    func receiveUpdate(_ message: [UInt8], now: UInt64) {
        journal.state("update_received")
        carryOut(services.changeUpdate { $0.receive(message, at: .now(now)) })
    }

    /// Returns the address of an image to download, once.
    func takeWantedImage() -> String? {
        defer { wantedImage = nil }
        return wantedImage
    }

    /// Takes the end of a download.
    func downloaded(_ download: SimulatedUpdate.Download, now: UInt64) {
        let (outcome, bytes) =
            switch download {
            case .complete(let image): ("complete", image.count)
            case .broken(let part): ("broken", part.count)
            case .noImage: ("none", 0)
            }
        journal.write("download", [.init("outcome", .string(outcome)), .init("bytes", .integer(Int64(bytes)))])
        carryOut(services.changeUpdate { $0.downloaded(download, at: .now(now)) })
    }

    /// The board is connected to the broker.
    func isOnline(now: UInt64) { carryOut(services.changeUpdate { $0.connected(at: .now(now)) }) }

    /// Does the application's work that is due by now.
    func advanceServices(now: UInt64) { carryOut(services.advance(to: .now(now))) }

    private func carryOut(_ effects: NodeServices.Effects) {
        for values in effects.values { step { $0.setParameters(NodeParameters.Change(values)) } }
        // No application reports this much; without a cloud the reports are not taken.
        reports = Array((reports + effects.reports).suffix(64))
        series = Array((series + effects.series).suffix(64))
        messages = Array((messages + effects.messages).suffix(64))
        wantedImage = effects.image ?? wantedImage
        if !effects.reports.isEmpty {
            let members = services.members
            step { $0.setServices(members) }
        }
        isRestarting = isRestarting || effects.restarts
    }

    /// Returns the changes to report now.
    func takeReports() -> [JSONValue] {
        defer { reports = [] }
        return reports
    }

    /// Returns the other messages to send now.
    func takeMessages() -> [Sensor.Message] {
        defer { messages = [] }
        return messages
    }

    /// Returns the messages of time series to send now.
    func takeSeries() -> [Sensor.Message] {
        defer { series = [] }
        return series
    }

    /// Sends all present values of time series, as at each connection. What was not sent before is lost.
    func reportSeries() { series = services.sensor?.messages ?? [] }

    func restarted() {
        isRestarting = false
        _ = services.changeUpdate {
            $0.restarted()
            return []
        }
        let (version, members) = (Array(services.update.version.utf8), services.members)
        step {
            $0.firmwareVersion = version
            $0.setServices(members)
        }
    }

    func delayedAnswer(on endpoint: Endpoint, transport: String) -> DeviceAnswer {
        if isMute { return .later }
        return step { $0.delayedAnswer(now: MonotonicClock.now) }
    }

    /// Changes the core, and reports the events to all observers.
    @discardableResult
    func step<Result>(_ body: (inout SimulatedCore) -> Result) -> Result {
        let result = body(&core)
        due = core.nextDue
        for event in core.takeEvents() {
            journal.record(event)
            log(.info, "board", "\(event)")
            for observer in observers { observer(event) }
        }
        return result
    }

    // MARK: The loop

    var interests: [Interest] { [] }
    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}
    func wake(now: UInt64) { if let due, due <= now { step { $0.advance(to: now) } } }
    func shutDown() {}
}

extension FirmwareSim {
    /// Makes the boards of the options: one, or the requested number.
    func makeBoards(_ journal: Journal) throws -> [Board] {
        let nodes = try bluetooth.nodes.map { try NodeFiles.read($0, id: kind.nodeId, count: bluetooth.boards) }
        let accessPoints = simulatedRadio
        var verifiers = VerifierCache()
        var master = BoardRandom(seed: watching.seed)
        var names: Set<String> = []
        return try (0..<bluetooth.boards).map { index in
            let credentials = nodes?[index] ?? NodeFiles(id: kind.nodeId, certificate: cloud.cert, key: cloud.key)
            // The first board is the one that there would be alone. Two boards of the same name would have the same address, too.
            while true {
                var random = index == 0 ? BoardRandom(seed: watching.seed) : master.fork()
                let identity = try identity(credentials, random: &random)
                guard names.insert(identity.name).inserted else { continue }
                return try board(
                    identity, credentials, radio: accessPoints,
                    journal: bluetooth.ble ? journal.about(board: identity.name) : journal, verifiers: &verifiers,
                    random: &random)
            }
        }
    }

    private func identity(_ credentials: NodeFiles, random: inout BoardRandom) throws -> BoardIdentity {
        BoardIdentity(
            name: kind.name, proofOfPossession: kind.noPop ? "" : kind.pop, username: kind.username,
            nodeID: try credentials.id ?? credentials.certificate.flatMap(commonName(ofCertificate:)),
            address: kind.mac?.address, isClaimed: !kind.unclaimed, random: &random)
    }

    private func board(
        _ identity: BoardIdentity, _ credentials: NodeFiles, radio accessPoints: SimulatedRadio, journal: Journal,
        verifiers: inout VerifierCache, random: inout BoardRandom
    ) throws -> Board {
        let firmware = firmware
        let hasLocalProof =
            listening.localControl != nil && firmware.security == 1 && !identity.proofOfPossession.isEmpty
        let localProof = hasLocalProof ? identity.proofOfPossession : nil
        var kinds = kind.services.kinds
        // Boards that get updates over topics have no service for it.
        if cloud.updateBy == .topics { kinds.remove(.ota) }
        let services = ServiceKind.allCases.filter { kinds.contains($0) }.map {
            $0 == .ota && cloud.updateBy == .approval ? ServiceKind.updateApproval : $0.configuration
        }
        var configuration = DeviceConfiguration(
            nodeID: Array(identity.nodeID.utf8), security: SecurityVersion(rawValue: Int32(firmware.security)),
            patchVersion: UInt32(firmware.patch), hasProofOfPossession: !identity.proofOfPossession.isEmpty,
            association: firmware.mapping.association, isClaimed: !kind.unclaimed,
            macAddress: Array(identity.macAddress.utf8), claimFaults: kind.claimFault.map(\.fault),
            component: firmware.component,
            provisioning: ProvisioningOptions(
                attempts: firmware.attempts, resetsOnFailure: firmware.resetsOnFailure,
                stopsByItself: !radio.noAutoStop, scanEntries: radio.scanEntries,
                refusesIdleReset: firmware.refusesIdleReset),
            customEndpoint: firmware.customEndpoint.map { Endpoint(name: Array($0.utf8)) },
            services: JSONValue.array(
                services + (localProof == nil ? [] : [ServiceKind.localControl])
            ).serialized())
        configuration.hasLocalData = kind.localData
        let appliance = kind.device.map { Appliance($0) }
        let devices = (kind.sensor == nil ? [] : [Sensor.configuration]) + (appliance.map { [$0.configuration] } ?? [])
        configuration.moreDevices = devices.flatMap { [UInt8(ascii: ",")] + $0.serialized() }
        let core = SimulatedCore(
            configuration: configuration, radio: accessPoints,
            security: try security(of: identity, &verifiers, random: &random), signer: try credential(credentials))
        let board = Board(
            core: core, identity: identity, credentials: credentials, journal: journal, logLevel: watching.logLevel,
            random: random.fork(), security: try security(of: identity, &verifiers, random: &random),
            services: NodeServices(
                kinds,
                update: SimulatedUpdate(
                    SimulatedUpdate.Build(
                        way: cloud.updateBy, end: cloud.update, attempts: cloud.updateAttempts,
                        refetch: UInt64(cloud.updateRefetch * 1000), hasClock: !kind.noClock), nodeID: identity.nodeID),
                localProof: localProof, sensor: kind.sensor.map { Sensor(period: $0, hasClock: !kind.noClock) },
                appliance: appliance),
            alerts: Alerts(text: cloud.alert, notifies: cloud.notify))
        board.observe { [weak board] event in
            guard case .parametersReceived(let bytes) = event, let values = RemoteParameters.parse(bytes) else {
                return
            }
            board?.set(values, now: MonotonicClock.now)
        }
        return board
    }

    /// An unclaimed board makes its key itself. A board that signs challenges without a given key does so, too; no cloud knows that key.
    private func credential(_ files: NodeFiles) throws -> NodeKey? {
        if let file = files.key { return try NodeKey(file: file) }
        return kind.unclaimed || firmware.mapping == .challengeResponse ? try NodeKey() : nil
    }

    private var simulatedRadio: SimulatedRadio {
        let accessPoints =
            radio.wifi.enumerated().map { $1.accessPoint(at: $0) } + radio.ap.map(\.accessPoint)
        return SimulatedRadio(
            accessPoints: accessPoints.sorted { $0.rssi > $1.rssi },
            joinDelay: UInt64((radio.joinDelay * 1000).rounded()),
            channelDelay: UInt64((radio.channelDelay * 1000).rounded()), fault: radio.fail.fault)
    }

    private func security(
        of identity: BoardIdentity, _ verifiers: inout VerifierCache, random: inout BoardRandom
    ) throws -> DeviceSecurity<OpenSSLCrypto, BoardRandom> {
        let proof = Array(identity.proofOfPossession.utf8)
        switch firmware.security {
        case 0: return .security0(Security0Device())
        case 1: return .security1(Security1Device(proofOfPossession: proof, random: random.fork()))
        default:
            let verifier = try verifiers.verifier(of: identity, random: &random)
            return .security2(
                Security2Device(
                    verifier: verifier, patchVersion: firmware.patch == 1 ? .countedNonce : .constantNonce,
                    random: random.fork()))
        }
    }
}

/// Verifiers of Security 2 by their password. Each takes milliseconds, and boards may share a proof of possession.
private struct VerifierCache {
    private var made: [String: Security2Verifier] = [:]

    mutating func verifier(of identity: BoardIdentity, random: inout BoardRandom) throws -> Security2Verifier {
        if let verifier = made[identity.proofOfPossession] { return verifier }
        do {
            let verifier = try Security2Verifier(
                username: Array(identity.username.utf8), password: Array(identity.proofOfPossession.utf8),
                salt: random.salt(), with: OpenSSLCrypto.self)
            made[identity.proofOfPossession] = verifier
            return verifier
        } catch { throw StartError("the verifier of Security 2 could not be computed") }
    }
}

/// The identity of a board from the factory: its name, its proof of possession and its node id.
struct BoardIdentity {
    var name: String
    /// Empty if the board requires none.
    var proofOfPossession: String
    fileprivate var username: String
    var nodeID: String
    /// The base address in the chip's fuses, six bytes.
    private var address: [UInt8]

    /// Fills in missing values like RainMaker does: from 64 random bytes of the `fctry` partition. The digits of the name are those of the
    /// address, as in firmware without these bytes.
    init(
        name: String?, proofOfPossession: String?, username: String, nodeID: String?, address: [UInt8]? = nil,
        isClaimed: Bool, random: inout BoardRandom
    ) {
        let factory = random.bytes(64)
        let address: [UInt8] = address ?? [0x7C, 0xDF, 0xA1] + factory.suffix(3)
        self.name = name ?? "PROV_" + Hex.text(address.suffix(3))
        self.proofOfPossession = proofOfPossession ?? Hex.text(factory.prefix(4))
        self.username = username
        self.address = address
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        // A claimed node has an opaque id of 22 characters; an unclaimed one uses its MAC address.
        self.nodeID =
            nodeID
            ?? (isClaimed
                ? String(factory[10..<32].map { alphabet[Int($0) % alphabet.count] })
                : Hex.text(self.address).uppercased())
    }

    /// The base address as twelve upper-case hex digits.
    var macAddress: String { Hex.text(address).uppercased() }

    /// The address of the board's Wi-Fi station, which is the base address: `7C:DF:A1:00:00:00`.
    var stationAddress: String { address(plus: 0) }

    /// The address of the board's own access point.
    var accessPointAddress: String { address(plus: 1) }

    /// The board's Bluetooth address: `7C:DF:A1:00:00:02`.
    var bluetoothAddress: String { address(plus: 2) }

    /// Returns the base address plus an offset.
    private func address(plus offset: UInt32) -> String {
        let tail = (UInt32(address[3]) << 16 | UInt32(address[4]) << 8 | UInt32(address[5])) &+ offset
        let bytes = address.prefix(3) + [16, 8, 0].map { UInt8(truncatingIfNeeded: tail >> $0) }
        return bytes.map { Hex.text([$0]).uppercased() }.joined(separator: ":")
    }

    /// The board's entry in the ready line.
    var bluetoothSummary: JSONValue {
        .object([
            .init("address", .string(bluetoothAddress)), .init("name", .string(name)),
            .init("node_id", .string(nodeID)), .init("pop", .string(proofOfPossession)),
        ])
    }

    /// Returns the payload of the board's QR code. Security 2 includes the user; Security 0 has no proof of possession.
    func qrCode(security: Int, transport: String) -> JSONValue {
        var members: [JSONValue.Member] = [.init("ver", "v1"), .init("name", .string(name))]
        if security == 2 { members.append(.init("username", .string(username))) }
        if security > 0, !proofOfPossession.isEmpty { members.append(.init("pop", .string(proofOfPossession))) }
        members.append(.init("transport", .string(transport)))
        return .object(members)
    }
}

/// The board's random number generator: the system's, or with `--seed` a deterministic one.
enum BoardRandom: RandomSource {
    case system(OpenSSLRandom)
    case seeded(ReproducibleRandom)

    init(seed: UInt64?) {
        self = seed.map { .seeded(ReproducibleRandom(seed: $0)) } ?? .system(OpenSSLRandom())
    }

    mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        switch self {
        case .system(var source):
            source.fill(buffer)
            self = .system(source)
        case .seeded(var source):
            source.fill(buffer)
            self = .seeded(source)
        }
    }

    /// Returns another generator with a different sequence.
    mutating func fork() -> BoardRandom {
        guard case .seeded(var source) = self else { return .system(OpenSSLRandom()) }
        let seed = source.next()
        self = .seeded(source)
        return .seeded(ReproducibleRandom(seed: seed))
    }

    /// Returns a salt for the verifier of Security 2: 16 bytes, the first of which is not zero. Espressif's clients read the salt as a
    /// number and lose a leading zero. So they could never provision 1 board in 256.
    mutating func salt() -> [UInt8] {
        while true {
            let salt: [UInt8] = bytes(16)
            if salt[0] != 0 { return salt }
        }
    }

    mutating func number() -> UInt32 { bytes(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
