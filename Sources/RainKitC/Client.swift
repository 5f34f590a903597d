// SPDX-License-Identifier: Apache-2.0
public import CRainKit
import Glibc
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainIO
import RainJSON
import RainKit
import RainMaker
import Synchronization

/// What is behind a client's handle.
final class Client: Sendable {
    let kit: RainKitClient
    /// Where a sign-in keeps its session.
    let store: StoreChoice
    /// The session's values that a host reads without waiting.
    let known = KnownSession()
    private let renewals = RenewalsUnderWay()
    private let log: LogThread?
    private let state = Mutex<(isFreed: Bool, operations: [ObjectIdentifier: Operation])>((false, [:]))

    init(_ options: rainkit_client_options) throws {
        OpenSSLState.keepAtExit()
        let settings = try ClientSettings(options)
        log = settings.log
        store = settings.store
        kit = RainKitClient(settings.configuration)
    }

    /// Starts an operation of this client.
    func start(
        _ handle: UnsafeMutablePointer<OpaquePointer?>, _ work: @escaping @Sendable (Operation) async throws -> String
    ) throws(CallError) {
        let operation = try Operation()
        try state.withLock { state throws(CallError) in
            if state.isFreed { throw .usage }
            state.operations[ObjectIdentifier(operation)] = operation
        }
        handle.pointee = Handles.add(operation)
        operation.start { [self] operation in
            defer { state.withLock { $0.operations[ObjectIdentifier(operation)] = nil } }
            return try await RenewalsUnderWay.$current.withValue(renewals) { try await work(operation) }
        }
    }

    /// Cancels all operations, and waits for renewals of tokens whose request was sent.
    func free() {
        let operations = state.withLock { state in
            state.isFreed = true
            return Array(state.operations.values)
        }
        for operation in operations { operation.cancel() }
        known.forget()
        let (renewals, kit, log) = (renewals, kit, log)
        let done = DispatchedWait()
        Task.detached {
            // No code of the library runs any more when the host ends and libraries free what they share.
            for operation in operations { await operation.ended() }
            _ = await renewals.finish(within: Self.timeForRenewals)
            await kit.close()
            log?.close()
            done.end()
        }
        done.wait(atMost: Self.timeForRenewals)
        log?.waitForEnd(atMost: Self.timeForLogger)
    }

    private static let timeForRenewals = Duration.seconds(5)
    private static let timeForLogger = Duration.seconds(5)
}

/// A thread's wait for a task.
final class DispatchedWait: Sendable {
    private let wake = WakePipe()

    func end() { wake?.ring() }

    func wait(atMost limit: Duration) {
        guard let wake else { return }
        let end = monotonicMilliseconds() + Int64(limit / .milliseconds(1))
        while true {
            let left = end - monotonicMilliseconds()
            guard left > 0 else { return }
            var entry = pollfd(fd: wake.reader, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, Int32(left)) > 0 { return }
        }
    }
}

/// The access token and the user's id, as they were known last.
final class KnownSession: Sendable {
    private struct Token {
        var secret: RainKitSecret
        /// When it expires, in milliseconds of the monotonic clock; nil if unknown.
        var end: Int64?
    }

    private let token = Mutex<Token?>(nil)
    private let user = Mutex<String?>(nil)

    func know(_ secret: RainKitSecret, for time: Duration?) {
        let end = time.map { monotonicMilliseconds() + Int64($0 / .milliseconds(1)) }
        token.withLock { $0 = Token(secret: secret, end: end) }
    }

    func know(user id: String) { user.withLock { $0 = id } }

    func forget() {
        token.withLock { $0 = nil }
        user.withLock { $0 = nil }
    }

    func copyToken(
        _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
    ) throws(CallError) {
        guard let token = token.withLock({ $0 }), token.end.map({ $0 > monotonicMilliseconds() }) ?? true else {
            length?.pointee = 0
            throw .auth
        }
        try token.secret.reveal { bytes throws(CallError) in
            try copy(UnsafeRawBufferPointer(bytes), to: buffer, capacity, length)
        }
    }

    func copyUser(
        _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
    ) throws(CallError) {
        guard let user = user.withLock({ $0 }) else {
            length?.pointee = 0
            throw .auth
        }
        let bytes = ContiguousArray(user.utf8)
        let failure = bytes.withUnsafeBytes { bytes in
            CallError.number { () throws(CallError) in try copy(bytes, to: buffer, capacity, length) }
        }
        if failure != 0 { throw CallError(code: failure) }
    }
}

/// The options of a client, checked.
private struct ClientSettings {
    var configuration: RainKitConfiguration
    var store: StoreChoice
    var log: LogThread?

    /// - Throws: `RainKitError` with a message for the host; `CallError` for strings that are not UTF-8.
    init(_ options: rainkit_client_options) throws {
        let state = try options.state.text
        switch options.store {
        case Int32(RAINKIT_STORE_AUTOMATIC): store = .automatic
        case Int32(RAINKIT_STORE_FILE): store = .kind(.file)
        case Int32(RAINKIT_STORE_SECRET_SERVICE): store = .kind(.secretService)
        case Int32(RAINKIT_STORE_MEMORY): store = .kind(.memory)
        default: throw RainKitError(.request(.usage, reason: "usage"), message: "store is not one of RAINKIT_STORE_….")
        }
        let deployment = try Self.deployment(options)
        if store == .kind(.memory) {
            configuration = .inMemory(deployment: deployment)
        } else {
            guard let state, state.hasPrefix("/") else {
                throw RainKitError(
                    .request(.config, reason: "invalid_configuration"),
                    message: state == nil
                        ? "state is empty: it must name a folder, unless store is RAINKIT_STORE_MEMORY."
                        : "state must be an absolute path.")
            }
            configuration = RainKitConfiguration(state: state, deployment: deployment)
        }
        configuration.tools.timer = TimerClock()
        // Not libcrypto's, whose state the host's exit handlers may free while an operation still runs.
        configuration.tools.randomBytes = { count in
            var system = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &system) }
        }
        configuration.remembersNodes = store != .kind(.memory)
        configuration.account = try options.account.text
        if let definitions = try options.definitions.text { configuration.definitions = definitions }
        configuration.certificateAuthorities = try options.ca_file.text
        if let file = configuration.certificateAuthorities, let problem = CertificateFile.problem(file) {
            throw RainKitError(
                .request(.config, reason: "invalid_configuration"),
                message: "The file of certificates \(file.onOneLine) \(problem).")
        }
        let settings = try Self.settings(options)
        if let provider = try options.provider.text, provider != "rainmaker" {
            configuration.provider = ProviderSelection(provider, settings: settings)
        } else if settings != nil {
            throw RainKitError(
                .request(.usage, reason: "usage"),
                message: "provider_settings are for another identity provider, but provider is empty.")
        }
        // Last, because options that are refused must not leave its thread behind.
        log = try LogThread(options)
        if let log { configuration.logger = log.logger }
    }

    private static func deployment(_ options: rainkit_client_options) throws -> Deployment {
        let more = [try options.claim_url.text, try options.sign_in_url.text, try options.client_id.text]
        let name = try options.deployment.text
        try checkURL(options.base_url.text, of: "base_url")
        try checkURL(more[0], of: "claim_url")
        try checkURL(more[1], of: "sign_in_url")
        guard let base = try options.base_url.text else {
            guard name == nil, more.allSatisfy({ $0 == nil }) else {
                throw RainKitError(
                    .request(.usage, reason: "usage"),
                    message:
                        "deployment, claim_url, sign_in_url and client_id describe the cloud of base_url, but base_url is empty."
                )
            }
            return .global
        }
        do throws(AccountError) {
            return try Deployment(
                name: name ?? Self.name(of: base), base: base, claim: more[0], authorization: more[1], clientID: more[2]
            )
        } catch {
            throw RainKitError(error)
        }
    }

    /// Names the option whose URL is refused.
    private static func checkURL(_ text: String?, of option: String) throws {
        guard let text else { return }
        do throws(AccountError) {
            _ = try ServiceURL(text)
        } catch {
            var refusal = RainKitError(error)
            refusal.message = "\(option): \(refusal.message)"
            throw refusal
        }
    }

    /// Returns the host of an address, as a name in messages and files.
    private static func name(of base: String) -> String {
        let rest = base.firstRange(of: "://").map { base[$0.upperBound...] } ?? base[...]
        let host = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
        return host.isEmpty ? "custom" : String(host.prefix(64))
    }

    private static func settings(_ options: rainkit_client_options) throws -> ProviderSettings? {
        let bytes = try options.provider_settings.bytes
        guard !bytes.isEmpty else { return nil }
        return try ProviderSettings(parsing: bytes)
    }
}

extension ProviderSettings {
    /// Reads settings from a JSON object: `environment`, `base_url`, `client_id`, `client_secret`, `scope` (words with blanks between them),
    /// `mode`, and `parameters` and `secrets`, which are objects of strings.
    fileprivate init(parsing bytes: [UInt8]) throws {
        func wrong(_ message: String) -> RainKitError {
            RainKitError(.request(.badData, reason: "bad_data"), message: "provider_settings: \(message)")
        }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch { throw wrong("\(error)") }
        guard let members = json.members else { throw wrong("this is not a JSON object.") }
        func text(_ member: JSONValue.Member) throws -> String {
            guard let text = member.value.string else { throw wrong("\(member.name) must be a string.") }
            return text
        }
        func texts(_ member: JSONValue.Member) throws -> [String: String] {
            guard let members = member.value.members else {
                throw wrong("\(member.name) must be an object of strings.")
            }
            var result: [String: String] = [:]
            for member in members { result[member.name] = try text(member) }
            return result
        }
        self.init()
        for member in members {
            switch member.name {
            case "environment": environment = try text(member)
            case "base_url": base = try text(member)
            case "client_id": clientID = try text(member)
            case "client_secret": clientSecret = RainKitSecret(try text(member))
            case "scope": scope = try text(member).split(separator: " ").map(String.init)
            case "mode": mode = try text(member)
            case "parameters": parameters = try texts(member)
            case "secrets": secrets = try texts(member).mapValues { RainKitSecret($0) }
            default: throw wrong("\(member.name) is not a setting of a provider.")
            }
        }
    }
}

// MARK: Functions

@c @implementation
public func rainkit_abi_version() -> UInt32 { UInt32(RAINKIT_ABI_VERSION) }

@c @implementation
public func rainkit_version() -> rainkit_string { Constants.version }

@c @implementation
public func rainkit_code_name(_ code: Int32) -> rainkit_string { Constants.names[code] ?? rainkit_string() }

/// Strings that are valid for ever.
private enum Constants {
    nonisolated(unsafe) static let version = lasting(RainKitVersion.current)
    nonisolated(unsafe) static let names = Dictionary(
        uniqueKeysWithValues: RainKitError.Code.allCases.map { ($0.rawValue, lasting($0.name)) })

    private static func lasting(_ text: String) -> rainkit_string {
        let bytes = Array(text.utf8CString)
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        memory.initialize(from: bytes, count: bytes.count)
        return rainkit_string(data: UnsafePointer(memory), length: bytes.count - 1)
    }
}

@c @implementation
public func rainkit_client_new(
    _ options: UnsafePointer<rainkit_client_options>?, _ client: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int32 {
    client?.pointee = nil
    if let message, capacity > 0 { message.pointee = 0 }
    func tell(_ words: String) {
        guard let message, capacity > 0 else { return }
        // Cut between characters.
        var text = words
        while text.utf8.count >= capacity { text.removeLast() }
        let bytes = Array(text.utf8CString)
        message.update(from: bytes, count: bytes.count)
    }
    guard let client, let options else {
        tell("The pointers to the options and to the client must not be NULL.")
        return CallError.usage.code
    }
    do {
        try Process.check()
        client.pointee = Handles.add(try Client(try options.options(else: rainkit_client_options())))
        return 0
    } catch let error as CallError {
        tell(
            error.code == CallError.usage.code
                ? "An option has a value that rainkit.h does not allow: initialise the options with RAINKIT_CLIENT_OPTIONS."
                : "A child of fork(2) cannot use the library: call exec(3) first.")
        return error.code
    } catch {
        let error = RainKitError(wrapping: error)
        tell(error.message)
        return error.code.rawValue
    }
}

@c @implementation
public func rainkit_client_free(_ client: OpaquePointer?) -> Int32 {
    guard client != nil else { return 0 }
    return CallError.number { () throws(CallError) in try Handles.removeClient(client).free() }
}

/// Starts an operation of a client.
/// - Parameters:
///   - given: the time limit of the call in milliseconds; 0 for the usual one.
///   - hasLimit: whether the work has its own time limit, of which it says more.
func start(
    _ client: OpaquePointer?, _ operation: UnsafeMutablePointer<OpaquePointer?>?, within limit: Duration,
    hasOwnLimit: Bool = false, _ prepare: () throws(CallError) -> @Sendable (Client, Operation) async throws -> String
) -> Int32 {
    operation?.pointee = nil
    return CallError.number { () throws(CallError) in
        guard let operation else { throw .usage }
        let client = try Handles.client(client)
        let work = try prepare()
        try client.start(operation) { [unowned client] operation in
            guard !hasOwnLimit else { return try await work(client, operation) }
            return try await limited(limit) { try await work(client, operation) }
        }
    }
}

/// Runs work within a time limit. Throws `deadline` when the time is over.
private func limited(_ limit: Duration, _ work: @escaping @Sendable () async throws -> String) async throws -> String {
    let outcome = await withDeadline(limit, sleep: { try await TimerClock().sleep(for: $0) }) {
        () async throws -> String in
        try await work()
    }
    guard let outcome else {
        throw RainKitError(
            .deadline, message: "The operation did not finish within \(Int64(limit / .milliseconds(1))) ms.")
    }
    return try outcome.get()
}

extension Duration {
    /// The time limit of a call; `usual` for 0.
    init(milliseconds: UInt32, usual: Duration) {
        self = milliseconds == 0 ? usual : .milliseconds(Int64(milliseconds))
    }
}
