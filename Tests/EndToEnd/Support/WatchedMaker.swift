// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// A maker whose commands print as much as they can. It keeps their output, their arguments as other users of the machine see
/// them, and the secrets that occur on the way.
final class WatchedMaker {
    enum Form { case textOnStandardError, jsonInFile }

    let maker: Maker
    private(set) var hunt = SecretHunt()
    /// What was said where.
    private(set) var evidence: [(place: String, text: String)] = []
    /// What was found to be readable by others.
    private(set) var wideOpen: [String] = []
    private(set) var argumentSamples = 0
    private(set) var processes = ProcessWatch()
    private(set) var mappingSecrets: Set<String> = []
    private(set) var tokens: Set<String> = []
    /// The sessions of sign-ins that wait for a code.
    private(set) var challenges: Set<String> = []
    /// Where codes come from, if the test has any.
    var mailbox: ReceivedCodes?
    private var count = 0

    init(_ folder: TemporaryFolder) throws {
        maker = try Maker(folder)
        hunt.add("the account's password", SimulatedCloud.password)
        hunt.add("the proof of possession", SimulatedBoard.proofOfPossession)
        hunt.add("the Wi-Fi password", SimulatedBoard.passphrase)
        hunt.add("a wrong secret", "planted-but-wrong")
    }

    private var state: String { maker.folder.file("state/rainkit") }
    var sessionFile: String { maker.folder.file(Maker.sessionFile) }
    var pendingFile: String { "\(state)/pending-sim.json" }

    var pendingSignInFile: String { "\(state)/sign-in-sim.json" }

    func add(_ name: String, _ secret: String) { hunt.add(name, secret) }

    /// Runs a command to its end, at the highest log level, and returns its exit status.
    /// - Parameter outputIsSecret: what it prints on standard output is what it was asked for, and is not kept.
    @discardableResult
    func run(
        _ arguments: [String], _ form: Form = .jsonInFile, argumentsHoldSecrets: Bool = false,
        outputIsSecret: Bool = false,
        whileRunning: (ChildProcess) async throws -> Void = { _ in }
    ) async throws -> Int {
        let ended = try await end(
            of: arguments, form, argumentsHoldSecrets: argumentsHoldSecrets, outputIsSecret: outputIsSecret,
            whileRunning: whileRunning)
        guard case .exited(let code) = ended else { throw Stuck(what: "\(arguments): \(ended)", errors: "") }
        return code
    }

    /// The same for one that may end by a signal.
    func end(
        of arguments: [String], _ form: Form = .jsonInFile, argumentsHoldSecrets: Bool = false,
        outputIsSecret: Bool = false, environment: [String: String] = [:],
        whileRunning: (ChildProcess) async throws -> Void = { _ in }
    ) async throws -> ChildExit {
        count += 1
        let name = "command \(count) (\(arguments.prefix(2).joined(separator: " ")))"
        let log =
            form == .jsonInFile
            ? ["--log-file", maker.folder.file("log-\(count).ndjson"), "--log-format", "json"] : []
        // The arguments after `--` belong to another program.
        let options = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let child = try await maker.start(
            arguments[..<options] + ["-vv"] + log + arguments[options...], environment: environment)
        defer { child.kill() }
        try await whileRunning(child)
        let end = ContinuousClock.now + .waitLimit
        var status: ChildExit?
        while status == nil {
            if !argumentsHoldSecrets {
                argumentSamples += 1
                processes.look(at: child.pid)
            }
            learn()
            guard ContinuousClock.now < end else { throw Stuck(what: name, errors: child.standardError) }
            status = try? await child.wait(within: .milliseconds(5))
        }
        learn()
        try await child.drained()
        if !outputIsSecret { note("standard output of \(name)", child.standardOutput) }
        note("standard error of \(name)", child.standardError)
        guard let status else { throw Stuck(what: name, errors: child.standardError) }
        return status
    }

    /// Keeps what a simulator said. Its ready line is for the test, and may name a secret.
    func note(_ process: ChildProcess) {
        let afterReady = process.standardOutput.drop { $0 != "\n" }
        note("standard output of \(process.name)", String(afterReady))
        note("standard error of \(process.name)", process.standardError)
    }

    private func note(_ place: String, _ text: String) {
        // The same arguments are sampled many times.
        if evidence.last?.text != text { evidence.append((place, text)) }
    }

    /// Everything that was found in what was kept, by now.
    var findings: [String] {
        evidence.flatMap { hunt.findings(in: $0.text, of: $0.place) } + processes.findings(hunt)
    }

    /// Reads the tokens and the mapping secrets that lie in the state files at this moment, and the files' permissions.
    private func learn() {
        let sessions = ((try? SecretHunt.entries(below: "\(state)/sessions")) ?? []).map { "\(state)/sessions/\($0)" }
        for path in sessions where path.hasSuffix(".json") {
            guard let session = (try? readFile(path)).flatMap({ try? JSONValue(parsing: Array($0.utf8)) }) else {
                continue
            }
            for key in ["accessToken", "refreshToken", "identityToken"] {
                guard let token = session[key]?.string, tokens.insert(token).inserted else { continue }
                hunt.add(key, token)
            }
        }
        for code in mailbox?.codes ?? [] { hunt.addCode("a code", code) }
        if let waiting = (try? readFile(pendingSignInFile)).flatMap({ try? JSONValue(parsing: Array($0.utf8)) }),
            let session = waiting["session"]?.string, challenges.insert(session).inserted
        {
            hunt.add("the session of a sign-in that waits", session)
        }
        if let pending = (try? readFile(pendingFile)).flatMap({ try? JSONValue(parsing: Array($0.utf8)) }) {
            for entry in pending.array ?? [] {
                guard let secret = entry["secret"]?.string, mappingSecrets.insert(secret).inserted else { continue }
                hunt.add("a mapping's secret", secret)
            }
        }
        for (path, expected) in [
            (state, 0o700), ("\(state)/sessions", 0o700), (pendingFile, 0o600), (pendingSignInFile, 0o600),
            ("\(state)/accounts.json", 0o600),
        ] + sessions.map({ ($0, 0o600) }) {
            guard let mode = SecretHunt.mode(of: path), mode != expected else { continue }
            wideOpen.append("\(path) has mode \(String(mode, radix: 8))")
        }
    }

    struct Stuck: Error {
        var what: String
        var errors: String
    }
}
