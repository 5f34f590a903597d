// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainHTTPCurl
import RainIO
import RainKit
import Synchronization

/// A time limit on the command line: `6`, `6s`, `500ms`, `2m`, `2h`; at most a day.
struct DurationArgument: ExpressibleByArgument, Equatable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(argument: argument, atMost: .seconds(86_400)) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.inShort }
}

/// A length of time that may be days: `30s`, `12h`, `7d`. Its users have their own bounds.
struct SpanArgument: ExpressibleByArgument, Equatable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        // Ten years, so that the sum of it and a date does not overflow.
        guard let duration = Duration(argument: argument, atMost: .seconds(10 * 366 * 86_400)) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.inShort }
}

extension Duration {
    /// Parses a number and a unit, seconds without a unit; nil for anything else, for an empty text, and for more than `limit`.
    fileprivate init?(argument: String, atMost limit: Duration) {
        let units: [(suffix: String, milliseconds: Int64)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000),
        ]
        guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            case let digits = argument.dropLast(unit.suffix.count), let value = Double(digits),
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), value > 0,
            value * Double(unit.milliseconds) <= limit / .milliseconds(1)
        else { return nil }
        self = .milliseconds(Int64(value * Double(unit.milliseconds)))
    }

    fileprivate var inShort: String {
        let milliseconds = self / .milliseconds(1)
        return milliseconds >= 1000 ? "\(Int(milliseconds / 1000))s" : "\(Int(milliseconds))ms"
    }
}

extension ArgumentHelp {
    /// The help of `--timeout`.
    static var timeLimit: ArgumentHelp {
        ArgumentHelp("Give up after this time, such as 500ms, 6s or 2m.", valueName: "time")
    }
}

/// Runs `body` within a time limit, which may be the rest of a `total`. The time in which the user is asked does not count. When the time is
/// over, `body` is cancelled and waited for. If it still succeeds, its value counts; otherwise this throws `deadline`.
///
/// - Parameter unfinished: what had not happened by then, for the message, if the error of `body` does not name it.
func withTimeout<Value: Sendable>(
    _ limit: Duration, of total: Duration? = nil, unfinished awaited: String? = nil,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let unfinished = Mutex<String?>(nil)
    let noting: @Sendable () async throws -> Value = {
        do {
            return try await body()
        } catch {
            unfinished.withLock {
                $0 =
                    (error as? AccountError)?.unfinished ?? (error as? BoardError)?.unfinished
                    ?? (error as? RainKitError)?.unfinished
            }
            throw error
        }
    }
    let timeAsked = { @Sendable in Screen.shared.timeThatDoesNotCount }
    let clock = TimerClock()
    let sleep = { @Sendable (time: Duration) in try await clock.sleep(until: clock.now + time, tolerance: nil) }
    switch await withDeadline(
        limit, sleep: { try await sleepWithoutQuestions($0, timeAsked: timeAsked, sleep: sleep) }, noting)
    {
    case .success(let value)?: return value
    // The command itself was cancelled, so the error is only a consequence.
    case .failure? where Task.isCancelled: throw CancellationError()
    case .failure(let error)?: throw error
    case nil:
        let time = DurationArgument(total ?? limit).defaultValueDescription
        throw CommandFailure(
            .deadline,
            message: unfinished.withLock { $0 }.map { "After \(time) (--timeout), \($0)." }
                ?? Invocation.current.silence.map { $0.sentence(after: time) }
                ?? awaited.map { "After \(time) (--timeout), \($0)." }
                ?? "The command did not finish within \(time) (--timeout).")
    }
}

/// The time for all steps of a command together. The clock stops while the user is asked.
final class TimeBudget: Sendable {
    private let limit: Duration
    private let end: Mutex<ContinuousClock.Instant>

    init(_ limit: DurationArgument) {
        self.limit = limit.duration
        end = Mutex(ContinuousClock.now + limit.duration)
    }

    /// The whole time, as in the option: `15s`.
    var total: String { DurationArgument(limit).defaultValueDescription }

    var left: Duration { max(.zero, ContinuousClock.now.duration(to: end.withLock { $0 })) }

    /// Runs one step within the remaining time; throws `deadline` when it is over.
    /// - Parameter unfinished: what had not happened by then, for the message.
    func run<Value: Sendable>(
        unfinished: String? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTimeout(left, of: limit, unfinished: unfinished, body)
    }

    func asking<Answer, Failure: Error>(_ question: () throws(Failure) -> Answer) throws(Failure) -> Answer {
        let start = ContinuousClock.now
        defer { end.withLock { $0 += start.duration(to: ContinuousClock.now) } }
        return try question()
    }

    /// Does the same for a question whose wait suspends.
    func askingOnScreen<Answer: Sendable>(_ question: () async -> Answer) async -> Answer {
        let start = ContinuousClock.now
        defer { end.withLock { $0 += start.duration(to: ContinuousClock.now) } }
        return await question()
    }
}

/// Records servers whose answer was given up, so that the message at the end of a command's time names them.
struct NotedHTTPClient: HTTPClient {
    private let client: any HTTPClient

    init(_ client: any HTTPClient) { self.client = client }

    struct Silence: Sendable {
        /// `host`, `host:port`, or the proxy before it.
        var name: String
        /// Whether it accepted the connection and sent nothing to begin TLS.
        var lacksTLS = false
        /// Whether a part of its answer had arrived.
        var hasBegun = false

        func sentence(after time: String) -> String {
            lacksTLS
                ? "\(name) accepted the connection, but did not begin TLS within \(time) (--timeout). A firewall or an overloaded server "
                    + "may delay the answer, or that port may use plain http:// or another protocol."
                : hasBegun
                    ? "The answer of \(name) began, but was not complete within \(time) (--timeout)."
                    : "\(name) did not answer within \(time) (--timeout)".asSentence
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            return try await Screen.shared.awaiting(Self.server(of: request.url)) { () async throws(HTTPError) in
                try await client.send(request)
            }
        } catch {
            if error.code == .cancelled {
                Invocation.current.silence = Silence(
                    name: error.silentProxy ?? error.host, lacksTLS: error.lacksTLS, hasBegun: error.receivedBytes)
            }
            throw error
        }
    }

    /// `host` or `host:port`.
    private static func server(of url: String) -> String {
        url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).first.map(String.init) ?? url
    }

    func close(kept name: String) async { await client.close(kept: name) }
}

extension Context {
    /// The tools of every client of rainctl. Their errors name the setting of a file of certificates.
    var tools: RainKitTools {
        let given = ProfileSettings.authorities(self, at: nil)
        let file = deploymentFile.path
        let configuration = { @Sendable (path: String?) -> CurlConfiguration in
            var configuration = CurlConfiguration(certificateAuthorities: path)
            guard let path else { return configuration }
            configuration.certificateAuthoritiesOrigin =
                given?.path == path ? given?.origin.settingName("ca_file") : "ca_file in \(file.onOneLine)"
            return configuration
        }
        // A request to `rainctl serve` uses the connections of the requests before it.
        let shared = Invocation.current.request?.connections
        return RainKitTools(
            http: { path in
                let configuration = configuration(path)
                return NotedHTTPClient(shared?.client(configuration) ?? CurlHTTPClient(configuration))
            },
            connections: { CurlStreamOpener(configuration($0)) })
    }
}

extension TimeBudget {
    /// The time to wait for a board. A moment is left for reporting the outcome.
    var leftForWaiting: Duration { RainKitClient.timeToSearch(within: left) }
}
