// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

typealias SimulatedCore = DeviceCore<DeviceSecurity<OpenSSLCrypto, BoardRandom>, NodeKey>

/// What a client talks to: the two have sessions of their own.
enum BoardService {
    case provisioning
    /// Challenge and response of a board that is on its network.
    case onNetwork
    /// The node's properties on its network.
    case localControl

    /// As the journal has it.
    var transport: String {
        switch self {
        case .provisioning: "http"
        case .onNetwork: "on-network"
        case .localControl: "local-control"
        }
    }
}

/// A board of this process: its core, its clock, and the observers of what it does.
final class Board: EventSource {
    private(set) var core: SimulatedCore
    let identity: BoardIdentity
    let credentials: NodeFiles
    let journal: Journal
    private let logLevel: LogLevel
    private var random: BoardRandom
    /// The board's end of its scheme, for the on-network service.
    private let security: DeviceSecurity<OpenSSLCrypto, BoardRandom>
    private var observers: [(DeviceEvent) -> Void] = []
    /// Of the core; kept because the loop asks each of many boards in every pass.
    private(set) var due: UInt64?
    /// What the application has beside the light.
    private(set) var services: NodeServices
    /// What of it has changed and is to be reported to the cloud.
    private var reports: [JSONValue] = []
    /// The application asks for a restart.
    private(set) var isRestarting = false
    /// No answer leaves the board any more: its power goes with the request that it has just taken.
    var isMute = false

    init(
        core: SimulatedCore, identity: BoardIdentity, credentials: NodeFiles, journal: Journal, logLevel: LogLevel,
        random: BoardRandom, security: DeviceSecurity<OpenSSLCrypto, BoardRandom>, services: NodeServices
    ) {
        self.services = services
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

    /// `observer` is called with each event, after it was written to the journal.
    func observe(_ observer: @escaping (DeviceEvent) -> Void) { observers.append(observer) }

    /// Writes a line to standard error, if that was asked for. Never a secret.
    func log(_ level: LogLevel, _ subject: String, _ message: @autoclosure () -> String) {
        guard level <= logLevel else { return }
        let line = Array("\(MonotonicClock.now) \(level.rawValue) \(subject): \(message())\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The node's id now: a claim gives it another.
    var nodeID: String { String(decoding: core.nodeID, as: UTF8.self) }

    /// The firmware's own application starts the service once the board is on its network.
    func startLocalControl() { step { $0.startLocalControl(security: security) } }

    func startOnNetworkService() { step { $0.startOnNetworkService(security: security) } }

    func newSessionID() -> UInt32 { random.number() }

    // MARK: requests

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

    // MARK: the application

    /// Takes over what the cloud, or a client on the network, sets.
    func set(_ values: JSONValue, now: UInt64) {
        journal.state("parameters_set")
        step { $0.setParameters(NodeParameters.Change(values)) }
        carryOut(services.set(values, at: .now(now)))
    }

    /// What of the application's is due by now.
    func advanceServices(now: UInt64) { carryOut(services.advance(to: .now(now))) }

    private func carryOut(_ effects: NodeServices.Effects) {
        for values in effects.values { step { $0.setParameters(NodeParameters.Change(values)) } }
        // Nobody reports that much; without a cloud nobody takes them.
        reports = Array((reports + effects.reports).suffix(64))
        if !effects.reports.isEmpty {
            let members = services.members
            step { $0.setServices(members) }
        }
        isRestarting = isRestarting || effects.restarts
    }

    /// What is to be reported now.
    func takeReports() -> [JSONValue] {
        defer { reports = [] }
        return reports
    }

    func restarted() { isRestarting = false }

    func delayedAnswer(on endpoint: Endpoint, transport: String) -> DeviceAnswer {
        if isMute { return .later }
        return step { $0.delayedAnswer(now: MonotonicClock.now) }
    }

    /// Does something to the core, and reports the events to all observers.
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

    // MARK: the loop

    var interests: [Interest] { [] }
    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}
    func wake(now: UInt64) { if let due, due <= now { step { $0.advance(to: now) } } }
    func shutDown() {}
}
