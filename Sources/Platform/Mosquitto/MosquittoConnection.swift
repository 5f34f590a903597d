// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import Synchronization

/// How to reach an MQTT broker.
package struct MosquittoSettings: Sendable {
    package var host: String
    package var port: UInt16
    package var isSecure: Bool
    package var clientID: String
    package var user: String?
    package var password: Secret?
    /// A file of certificate authorities; nil for the system's.
    package var authorities: String?
    package var certificate: String?
    package var key: String?
    /// What the broker publishes when the connection breaks. It keeps the message.
    package var will: (topic: String, payload: String)?
    /// How long the broker keeps messages for this client while it is away, in seconds; 0 for not at all.
    package var keepsSession: UInt32 = 0
    /// Whether to use MQTT 5. Without it, nothing is kept for the client.
    package var isVersion5 = true
    package var keepAlive: Int32 = 30

    package init(host: String, port: UInt16, isSecure: Bool, clientID: String) {
        (self.host, self.port, self.isSecure, self.clientID) = (host, port, isSecure, clientID)
    }
}

/// One connection to an MQTT broker, through libmosquitto.
package final class MosquittoConnection: Sendable {
    package struct Message: Sendable, Equatable {
        package var topic: String
        package var payload: [UInt8]
        /// Whether its sender had it retained.
        package var isRetained: Bool

        package init(topic: String, payload: [UInt8], isRetained: Bool) {
            (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
        }
    }

    /// The longest time that the loop waits, in milliseconds. Messages that are published wake it.
    private static let tick: Int32 = 1000
    /// Where Debian and others have the system's certificate authorities.
    private static let systemFolder = "/etc/ssl/certs"
    /// The longest message that is read.
    private static let maximumPayload = 1 << 20
    private static let maximumErrors = 8

    private struct Handles: @unchecked Sendable {
        var client: MosquittoLibrary.Client
    }

    private struct State {
        var isStopping = false
        var wasAccepted = false
        var refusal: Int32?
        var ending: Int32?
        /// What libmosquitto has logged as errors.
        var errors: [String] = []
        /// OpenSSL's result of the verification of the broker's certificate, if that failed.
        var verification = 0
        /// Why the connection cannot go on.
        var problem: MosquittoEnd?
        var outbox = MosquittoOutbox()
        /// By their packet identifiers.
        var subscriptions: [Int32: (filter: String, quality: Int32)] = [:]
    }

    private let library: MosquittoLibrary
    private let handles: Handles
    private let settings: MosquittoSettings
    private let state = Mutex(State())
    private let connected: @Sendable (MosquittoConnection) -> Void
    private let arrived: @Sendable (MosquittoConnection, Message) -> Void
    private let acknowledged: @Sendable (_ topic: String) -> Void
    private let lowered: @Sendable (_ filter: String, _ quality: Int32) -> Void

    /// Whether libmosquitto is installed.
    package static var isAvailable: Bool { MosquittoLibrary.shared != nil }

    /// - Parameters:
    ///   - connected: called on the connection's thread when the broker has accepted it.
    ///   - arrived: called there for each message.
    ///   - acknowledged: called for each message of ``send(_:_:isRetained:)`` that the broker has accepted.
    ///   - lowered: called for each subscription that the broker has granted with a lower quality of service.
    package init(
        _ settings: MosquittoSettings, connected: @escaping @Sendable (MosquittoConnection) -> Void,
        arrived: @escaping @Sendable (MosquittoConnection, Message) -> Void,
        acknowledged: @escaping @Sendable (_ topic: String) -> Void = { _ in },
        lowered: @escaping @Sendable (_ filter: String, _ quality: Int32) -> Void = { _, _ in }
    ) throws(MosquittoEnd) {
        guard let library = MosquittoLibrary.shared else { throw .noLibrary }
        if settings.isSecure { try Self.checkFiles(settings) }
        let keepsSession = settings.isVersion5 && settings.keepsSession > 0
        guard let client = library.create(settings.clientID, !keepsSession, nil) else {
            throw .network(systemErrorText(errno))
        }
        self.library = library
        self.settings = settings
        (self.connected, self.arrived) = (connected, arrived)
        (self.acknowledged, self.lowered) = (acknowledged, lowered)
        handles = Handles(client: client)
        do throws(MosquittoEnd) { try prepare() } catch {
            library.destroy(client)
            throw error
        }
    }

    /// libmosquitto does not say why it cannot read a file, and OpenSSL not what a file contains.
    private static func checkFiles(_ settings: MosquittoSettings) throws(MosquittoEnd) {
        for file in MosquittoEnd.TLSFile.allCases {
            guard let path = settings.path(of: file) else { continue }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw .file(file, path, reason: systemErrorText(errno)) }
            defer { close(descriptor) }
            var status = stat()
            if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw .file(file, path, reason: systemErrorText(EISDIR))
            }
        }
        for file in MosquittoEnd.TLSFile.allCases {
            guard let path = settings.path(of: file), let content = Self.content(of: path),
                let problem = content.problem(expecting: file == .key ? .privateKey : .certificate)
            else { continue }
            let key = file == .certificate ? settings.key.flatMap { Self.content(of: $0) } : nil
            let areSwapped =
                content.has(.privateKey) && key?.has(.certificate) == true && key?.has(.privateKey) == false
            throw .file(
                file, path,
                reason: "it \(problem)\(areSwapped ? "; the files of the certificate and of the key are swapped" : "")")
        }
    }

    /// Returns the blocks of a file; nil for something else than a file, which can be read only once, and for a file that is too large.
    private static func content(of path: String) -> PEMContent? {
        let limit = 4 << 20
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes: [UInt8] = []
        // It may contain a private key.
        defer { for index in bytes.indices { bytes[index] = 0 } }
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        defer { for index in chunk.indices { chunk[index] = 0 } }
        while bytes.count < limit {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return PEMContent(bytes) }
            guard count > 0 else {
                if errno == EINTR { continue }
                return nil
            }
            bytes += chunk[..<count]
        }
        return nil
    }

    // `destroy` waits for nobody: the loop holds a reference.
    deinit { library.destroy(handles.client) }

    private func prepare() throws(MosquittoEnd) {
        let client = handles.client
        _ = library.setThreaded(client, true)
        _ = library.setOption(
            client, MosquittoLibrary.protocolVersion,
            settings.isVersion5 ? MosquittoLibrary.version5 : MosquittoLibrary.version311)
        _ = library.setOption(client, MosquittoLibrary.noDelay, 1)
        if let user = settings.user {
            if let password = settings.password {
                let bytes = password.revealBytes().map { CChar(bitPattern: $0) } + [0]
                _ = library.setUser(client, user, bytes)
            } else {
                _ = library.setUser(client, user, nil)
            }
        }
        if settings.isSecure {
            let folder = access(Self.systemFolder, R_OK) == 0 ? Self.systemFolder : nil
            var code: Int32 = 0
            if settings.authorities == nil {
                code = library.setOption(client, MosquittoLibrary.systemCertificates, 1)
            }
            if code == 0, settings.authorities != nil || folder != nil {
                code = library.setTLS(
                    client, settings.authorities, settings.authorities == nil ? folder : nil, settings.certificate,
                    settings.key, { _, _, _, _ in 0 })  // OpenSSL does not ask for a passphrase at the terminal.
            }
            guard code == 0 else { throw .tls(.other, text(code)) }
        }
        if let will = settings.will {
            let payload = Array(will.payload.utf8)
            _ = library.setWill(client, will.topic, Int32(payload.count), payload, 1, true, nil)
        }
        library.onConnect(client) { _, context, code in
            MosquittoConnection.from(context)?.hasConnected(code)
        }
        library.onDisconnect(client) { _, context, code in
            MosquittoConnection.from(context)?.state.withLock { $0.ending = code }
        }
        library.onMessage(client) { _, context, message in
            guard let message else { return }
            MosquittoConnection.from(context)?.hasArrived(message)
        }
        library.onPublish(client) { _, context, identifier, code, _ in
            MosquittoConnection.from(context)?.hasPublished(identifier, code)
        }
        library.onSubscribe(client) { _, context, identifier, count, granted in
            guard let granted, count > 0 else { return }
            MosquittoConnection.from(context)?.hasSubscribed(identifier, granted.pointee)
        }
        library.onLog(client) { client, context, level, text in
            guard level == MosquittoLibrary.errorLog, let text, let connection = MosquittoConnection.from(context)
            else { return }
            let line = String(cString: text)
            // libmosquitto logs the error while the channel still exists.
            var verification = 0
            if line.contains("certificate verify failed"), let client,
                let channel = connection.library.secureChannel(client)
            {
                verification = connection.library.verification?(channel) ?? 0
            }
            connection.state.withLock { state in
                if state.errors.count < MosquittoConnection.maximumErrors { state.errors.append(line) }
                if verification != 0 { state.verification = verification }
            }
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MosquittoConnection? {
        context.map { Unmanaged<MosquittoConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: The loop

    /// Connects, and works until the connection ends. Call it once. Cancelling the task ends the connection properly.
    package func run() async -> MosquittoEnd {
        let waiter = Waiter<MosquittoEnd>()
        let failure = startThread { waiter.resume(returning: self.work()) }
        guard failure == 0 else { return .network(systemErrorText(failure)) }
        return await waiter.value {
            self.stop()
            // A host that does not answer must not hold up the end.
            if !self.state.withLock(\.wasAccepted) { waiter.resume(returning: .stopped) }
        }
    }

    /// Ends the connection, after what was published. The will is published before, because the broker does so only for connections that
    /// break.
    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping && state.wasAccepted
        }
        if isFirst, let will = settings.will {
            publish(will.topic, Array(will.payload.utf8), isRetained: true)
        }
        _ = library.disconnect(handles.client)
    }

    private func work() -> MosquittoEnd {
        library.setContext(handles.client, Unmanaged.passUnretained(self).toOpaque())
        defer { library.setContext(handles.client, nil) }
        var properties: MosquittoLibrary.Properties?
        defer { library.freeProperties(&properties) }
        if settings.isVersion5, settings.keepsSession > 0 {
            _ = library.addNumber(&properties, MosquittoLibrary.sessionExpiry, settings.keepsSession)
        }
        var code = library.connect(
            handles.client, settings.host, Int32(settings.port), settings.keepAlive, nil, properties)
        var number = errno
        while code == 0 {
            if state.withLock({ $0.problem != nil || $0.isStopping && !$0.wasAccepted }) { break }
            code = library.loop(handles.client, Self.tick, 1)
            number = errno
        }
        return end(code, number)
    }

    private func end(_ code: Int32, _ number: Int32) -> MosquittoEnd {
        let state = state.withLock { $0 }
        if state.isStopping { return .stopped }
        if let problem = state.problem { return problem }
        if let refusal = state.refusal, refusal != 0 { return .refused(code: refusal, Self.text(refusal: refusal)) }
        // MQTT 5 brokers give their reason when they end a connection.
        if let ending = state.ending, ending >= 0x80 { return .ended(code: ending, Self.text(refusal: ending)) }
        let reason = reason(code, number, wasAccepted: state.wasAccepted)
        // MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE
        if code == 8 || code == 23 || settings.isSecure && !state.wasAccepted && !state.errors.isEmpty {
            let fault = MosquittoEnd.TLSFault(state.errors, verification: state.verification)
            let text = (state.errors.last ?? reason).onOneLine
            if case .file(let file) = fault, let path = settings.path(of: file) {
                return .file(file, path, reason: text)
            }
            return .tls(fault, text)
        }
        // MOSQ_ERR_CONN_LOST
        let isClosed = code == 7 || code == 14 && (number == ECONNRESET || number == EPIPE)
        return isClosed && !state.wasAccepted ? .closed(reason) : .network(reason)
    }

    private func reason(_ code: Int32, _ number: Int32, wasAccepted: Bool) -> String {
        switch code {
        // MOSQ_ERR_PROTOCOL: the first packet of a broker is CONNACK. A web server's answer is another one.
        case 2 where !wasAccepted: Self.notMQTT
        // MOSQ_ERR_ERRNO
        // Without one, the other side has sent something that is not MQTT.
        case 14 where number == 0: Self.notMQTT
        case 14: systemErrorText(number)
        // MOSQ_ERR_EAI, with the number of getaddrinfo
        case 15: "the name of the host is not known (\(String(cString: gai_strerror(number))))"
        default: text(code).withoutFullStop
        }
    }

    private static let notMQTT = "its answer is not MQTT, so the port probably belongs to another service"

    private func text(_ code: Int32) -> String { library.explain(code).map { String(cString: $0) } ?? "error \(code)" }

    private static func text(refusal code: Int32) -> String {
        switch code {
        case 1, 0x84: "it does not speak this version of MQTT"
        case 2, 0x85: "it does not accept the client's identifier"
        case 3, 0x88: "it is not available"
        case 4, 0x86: "the user name or the password is missing or wrong"
        case 5, 0x87: "the user name or the password is probably missing or wrong"
        case 0x8A: "it has banned this client"
        case 0x8B: "it is shutting down"
        case 0x8D: "it received nothing from this client for too long"
        case 0x8E: "another client took over the session"
        case 0x97: "this client has reached its quota"
        case 0x95: "a message is too large for the broker"
        case 0x9A: "it does not retain messages"
        case 0x9B: "it does not support this quality of service"
        default: "reason code \(code)"
        }
    }

    // MARK: Callbacks

    private func hasConnected(_ code: Int32) {
        let isAccepted = code == 0
        state.withLock { state in
            if isAccepted { state.wasAccepted = true } else { state.refusal = code }
        }
        if isAccepted { connected(self) }
    }

    /// - Parameter message: `struct mosquitto_message { int mid; char *topic; void *payload; int payloadlen; int qos; bool retain; }`
    private func hasArrived(_ message: UnsafeRawPointer) {
        guard let topic = message.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self) else { return }
        let payload = message.load(fromByteOffset: 16, as: UnsafeRawPointer?.self)
        let length = Int(message.load(fromByteOffset: 24, as: Int32.self))
        let isRetained = message.load(fromByteOffset: 32, as: UInt8.self) != 0
        guard let name = String(validatingCString: topic), length >= 0 else { return }
        let bytes = payload.map { Array(UnsafeRawBufferPointer(start: $0, count: min(length, Self.maximumPayload))) }
        arrived(self, Message(topic: name, payload: bytes ?? [], isRetained: isRetained))
    }

    private func hasPublished(_ identifier: Int32, _ code: Int32) {
        guard let topic = state.withLock({ $0.outbox.acknowledged(identifier, code) }) else { return }
        hasAcknowledged(topic, code)
        sendWaiting()
    }

    private func hasAcknowledged(_ topic: String, _ code: Int32) {
        guard code >= 0x80 else { return acknowledged(topic) }
        setProblem(.refusedMessage(topic: topic, code: code))
    }

    private func hasSubscribed(_ identifier: Int32, _ granted: Int32) {
        guard let (filter, quality) = state.withLock({ $0.subscriptions.removeValue(forKey: identifier) }) else {
            return
        }
        if granted >= 0x80 {
            setProblem(.refusedSubscription(filter: filter, code: granted))
        } else if granted < quality {
            lowered(filter, granted)
        }
    }

    /// The loop ends with the first problem.
    private func setProblem(_ problem: MosquittoEnd) {
        state.withLock { if $0.problem == nil { $0.problem = problem } }
    }

    // MARK: Messages

    /// Publishes a message with quality of service 1. If the broker refuses it, the connection ends with
    /// ``MosquittoEnd/refusedMessage(topic:code:)``. Messages of one topic arrive in their order; one that still waits is replaced by a newer
    /// one. What has not arrived when the connection ends is lost.
    package func send(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
        state.withLock { $0.outbox.add(.init(topic: topic, payload: payload, isRetained: isRetained)) }
        sendWaiting()
    }

    /// One thread at a time: the outbox gives no message while the library is taking one. The lock is free meanwhile, because the library
    /// has locks of its own.
    private func sendWaiting() {
        while let message = state.withLock({ $0.isStopping || $0.problem != nil ? nil : $0.outbox.take() }) {
            var identifier: Int32 = 0
            let code = publish(
                message.topic, message.payload, quality: 1, isRetained: message.isRetained, identifier: &identifier)
            guard code == 0 else {
                state.withLock { $0.outbox.failed() }
                switch code {
                case MosquittoLibrary.tooLarge: setProblem(.refusedMessage(topic: message.topic, code: 0x95))
                case MosquittoLibrary.noQuality: setProblem(.refusedMessage(topic: message.topic, code: 0x9B))
                // Without a connection it is lost, and the loop ends.
                default: break
                }
                continue
            }
            if let (topic, code) = state.withLock({ $0.outbox.sent(identifier) }) { hasAcknowledged(topic, code) }
        }
    }

    /// Publishes a message. Without a connection it is lost, and nobody learns whether the broker refuses it.
    package func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
        var identifier: Int32 = 0
        _ = publish(topic, payload, quality: 0, isRetained: isRetained, identifier: &identifier)
    }

    private func publish(
        _ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool, identifier: inout Int32
    ) -> Int32 {
        payload.withUnsafeBytes { bytes in
            library.publish(
                handles.client, &identifier, topic, Int32(bytes.count), bytes.isEmpty ? nil : bytes.baseAddress,
                quality, isRetained)
        }
    }

    /// Subscribes. If the broker refuses it, the connection ends with ``MosquittoEnd/refusedSubscription(filter:code:)``. With MQTT 5, a
    /// message that its sender had retained is marked as such whenever it arrives. Call it on the connection's thread.
    package func subscribe(_ filter: String, quality: Int32) {
        var identifier: Int32 = 0
        let code = library.subscribe(
            handles.client, &identifier, filter, quality,
            settings.isVersion5 ? MosquittoLibrary.retainAsPublished : 0, nil)
        if code == 0 { state.withLock { $0.subscriptions[identifier] = (filter, quality) } }
    }
}

extension MosquittoSettings {
    fileprivate func path(of file: MosquittoEnd.TLSFile) -> String? {
        switch file {
        case .authorities: authorities
        case .certificate: certificate
        case .key: key
        }
    }
}

extension String {
    fileprivate var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
