// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import Synchronization

/// The MQTT broker: Debian's mosquitto, as a child process that ends with this one.
final class Broker: Sendable {
    let address: ListenAddress
    private let pid: pid_t
    private let hasEnded = Atomic(false)
    private let isStopping = Atomic(false)
    private let ended = OneTimeEvent()

    /// Starts mosquitto and waits until it listens. `preferred` is tried first; if that port is taken, another one is used.
    static func start(
        host: String, preferred: UInt16?, keys: KeyRing, folder: DataFolder,
        onEvent: @escaping @Sendable (BrokerLogEvent) -> Void
    ) throws(SimulatorError) -> Broker {
        guard let program = findProgram() else {
            throw SimulatorError(
                .unavailable,
                "mosquitto, the broker for boards, is not installed: apt-get install mosquitto")
        }
        guard programSearch().file(of: "setpriv") != nil else {
            throw SimulatorError(
                .unavailable,
                "setpriv, which starts mosquitto, is not in the folders of PATH; it is in Debian's package util-linux")
        }
        let identity = try keys.broker(host: host)
        try folder.write(Array(BrokerConfiguration.access.utf8), to: "broker/access")
        var complaints = ""
        for attempt in 0..<8 {
            var address = ListenAddress(host: host, port: attempt == 0 ? preferred ?? 0 : 0)
            // A free port is bound for a moment to learn its number. If another program takes it meanwhile, another port is tried.
            if address.port == 0 {
                let (socket, port) = try address.bind()
                close(socket)
                address.port = port
            }
            let configuration = BrokerConfiguration(
                address: address, authorityFile: keys.authorityFile, certificateFile: identity.certificate,
                keyFile: identity.key, accessFile: folder.file("broker/access"))
            try folder.write(Array(configuration.text.utf8), to: "broker/mosquitto.conf")
            switch try launch(program, folder.file("broker/mosquitto.conf"), address: address, onEvent: onEvent) {
            case .running(let broker): return broker
            case .portTaken: continue
            case .failed(let log): complaints = log
            }
            break
        }
        throw SimulatorError(.unavailable, "mosquitto did not start: \(complaints)")
    }

    private enum Launch: Sendable {
        case running(Broker)
        case portTaken
        case failed(String)
    }

    /// One thread starts the child, reads its log to the end and collects it. The kernel kills the child when the thread that started it
    /// ends, so this thread must live as long as the child.
    private static func launch(
        _ program: String, _ configuration: String, address: ListenAddress,
        onEvent: @escaping @Sendable (BrokerLogEvent) -> Void
    ) throws(SimulatorError) -> Launch {
        let outcome = OneTimeResult<Launch>()
        mustStartThread {
            guard let child = spawn(program, ["-c", configuration]) else {
                return outcome.set(.failed("\(program) could not be started"))
            }
            let broker = Broker(address: address, pid: child.pid)
            var log = ""
            var isTaken = false
            var wasRunning = false
            forEachLine(of: child.log) { line in
                if log.utf8.count < 4096 { log += line + "; " }
                switch BrokerLogEvent(line) {
                case .running:
                    wasRunning = true
                    outcome.set(.running(broker))
                case .portTaken: isTaken = true
                case let event?: onEvent(event)
                case nil: break
                }
            }
            close(child.log)
            broker.hasEnded.store(true, ordering: .releasing)
            while waitpid(child.pid, nil, 0) == -1 && errno == EINTR {}
            broker.ended.fire()
            if wasRunning, !broker.isStopping.load(ordering: .acquiring) { onEvent(.died) }
            outcome.set(isTaken ? .portTaken : .failed(log))
        }
        guard let result = outcome.wait(milliseconds: 10_000) else {
            throw SimulatorError(.unavailable, "mosquitto did not start within 10 s")
        }
        return result
    }

    private init(address: ListenAddress, pid: pid_t) {
        self.address = address
        self.pid = pid
    }

    /// Ends the broker. If it does not end within 300 ms it is killed.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        guard !hasEnded.load(ordering: .acquiring) else { return }
        kill(pid, SIGTERM)
        if !ended.wait(milliseconds: 300) {
            kill(pid, SIGKILL)
            _ = ended.wait(milliseconds: 300)
        }
    }

    /// Debian keeps mosquitto in /usr/sbin, which is not in an ordinary user's PATH.
    private static func findProgram() -> String? {
        let more = ["/usr/sbin", "/usr/local/sbin"]
        return programSearch().file(of: "mosquitto")
            ?? more.lazy.compactMap { ProgramSearch(path: $0).file(of: "mosquitto") }.first
    }
}

private func programSearch() -> ProgramSearch { ProgramSearch(path: getenv("PATH").map { String(cString: $0) }) }

/// Starts a program that ends with the calling thread. Its standard error goes to `log`.
private func spawn(_ program: String, _ arguments: [String]) -> (pid: pid_t, log: Int32)? {
    guard let setpriv = programSearch().file(of: "setpriv") else { return nil }
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    // The child must not write to our standard output, which is for the ready line.
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    // setpriv (util-linux) sets the signal and becomes the program. A terminal's Ctrl-C reaches the child as well, which does no harm.
    let words = ["setpriv", "--pdeathsig", "KILL", "--", program] + arguments
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    let failure = posix_spawn(&pid, setpriv, &actions, &attributes, &argv, environ)
    close(ends[1])
    guard failure == 0 else {
        close(ends[0])
        return nil
    }
    return (pid, ends[0])
}

/// Reads lines until the stream ends. Lines that are longer than a log line can be are cut.
private func forEachLine(of descriptor: Int32, _ body: (String) -> Void) {
    var pending: [UInt8] = []
    while true {
        let part = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            repeat {
                count = max(-1, read(descriptor, buffer.baseAddress!, buffer.count))
            } while count < 0 && errno == EINTR
            count = max(0, count)
        }
        guard !part.isEmpty else { return }
        pending += part
        while let end = pending.firstIndex(of: 0x0A) {
            body(String(decoding: pending[..<end], as: UTF8.self))
            pending.removeFirst(end + 1)
        }
        if pending.count > 16 << 10 { pending.removeAll() }
    }
}

/// mosquitto's configuration: TLS with certificates on both sides, names from the certificates, and rights by name.
private struct BrokerConfiguration: Sendable {
    var address: ListenAddress
    var authorityFile: String
    var certificateFile: String
    var keyFile: String
    var accessFile: String

    var text: String {
        // As root, mosquitto would become the user `mosquitto`, who cannot read our keys (0600, in a folder of 0700).
        let user = geteuid() == 0 ? "user root\n" : ""
        return """
            \(user)per_listener_settings false
            listener \(address.port) \(address.host)
            cafile \(authorityFile)
            certfile \(certificateFile)
            keyfile \(keyFile)
            require_certificate true
            use_identity_as_username true
            use_username_as_clientid true
            allow_anonymous false
            acl_file \(accessFile)
            persistence false
            sys_interval 0
            set_tcp_nodelay true
            log_dest stderr
            log_type error
            log_type warning
            log_type notice
            log_type information
            connection_messages true
            message_size_limit \(CloudAPI.maximumMessage)

            """
    }

    /// A node may publish and subscribe only under its own id, with or without the prefix of a rule. `#` does not match topics that begin
    /// with `$`, so those are named.
    static let access = """
        user \(KeyRing.listenerName)
        topic readwrite #
        topic readwrite $aws/#

        pattern readwrite node/%u/#
        pattern readwrite $aws/rules/+/node/%u/#
        pattern readwrite rainmaker/nodes/%u/#
        pattern readwrite $aws/rules/+/rainmaker/nodes/%u/#
        pattern readwrite $aws/things/%u/#

        """
}

/// Events of the broker, read from mosquitto's log.
enum BrokerLogEvent: Equatable {
    case running
    case portTaken
    /// The broker ended although it was not stopped. The log has no line for this.
    case died
    case connected(String)
    case disconnected(String)

    init?(_ line: String) {
        // "1668999999: New client connected from 127.0.0.1:40028 as node1 (p2, c1, k60, u'node1')."
        let words = line.split(separator: " ").map(String.init)
        if line.contains("mosquitto version"), line.hasSuffix(" running") {
            self = .running
        } else if line.contains("Address already in use") {
            self = .portTaken
        } else if line.contains("New client connected from "), let name = Self.word(after: "as", in: words) {
            self = .connected(name)
        } else if let name = Self.word(after: "Client", in: words) ?? Self.word(after: "client", in: words),
            // "already connected, closing old connection" is followed by the new connection, which counts.
            !line.contains("already connected"),
            ["disconnected", "closed its connection", "disconnecting"].contains(where: line.contains)
        {
            // "Client node1 disconnected.", "Client node1 closed its connection.", "Client node1 has exceeded timeout,
            // disconnecting.", "Socket error on client node1, disconnecting."
            self = .disconnected(name.hasSuffix(",") ? String(name.dropLast()) : name)
        } else {
            return nil
        }
    }

    private static func word(after word: String, in words: [String]) -> String? {
        words.firstIndex(of: word).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }
}
