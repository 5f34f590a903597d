// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import RainHTTP
import Synchronization

/// A moment of civil time, in seconds since 1970 in UTC.
public struct UnixTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01 00:00 UTC, without leap seconds, with fractions.
    public var seconds: Double

    public init(seconds: Double) { self.seconds = seconds }

    public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
    /// Returns the moment that many seconds later, or earlier for a negative number.
    public static func + (time: Self, seconds: Double) -> Self { Self(seconds: time.seconds + seconds) }
}

/// Gives the time of day. Tokens expire by civil time, which continues while a laptop sleeps; monotonic time does not.
public protocol WallClock: Sendable {
    /// The current time. It may jump, also backwards, if the clock is set.
    var now: UnixTime { get }
}

/// The machine's own clock.
public struct SystemWallClock: WallClock {
    public init() {}

    public var now: UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }
}

/// Measures how far the server's clock is ahead of this machine's, from the `Date` of its answers.
///
/// Tokens expire by the server's clock. A token with its time of issue needs no correction. For other tokens the local clock may be wrong
/// by any amount, and this class measures it.
///
/// ```swift
/// let server = ServerClock()
/// let provider = MyProvider(http: server.listening(to: client))
/// let session = AccountSession(provider: provider, http: client, store: store, key: key, server: server)
/// ```
public final class ServerClock: Sendable {
    private let clock: any WallClock
    private let heard = Mutex<Double?>(nil)

    public init(clock: any WallClock = SystemWallClock()) { self.clock = clock }

    /// The difference in whole seconds, from the last answer; nil until one had a date.
    public var secondsAhead: Double? { heard.withLock { $0 } }

    /// Returns a client that passes its answers to this clock.
    public func listening(to http: any HTTPClient) -> any HTTPClient { ListeningClient(http: http, server: self) }

    fileprivate func hear(_ response: HTTPResponse) {
        guard let date = response.date else { return }
        let ahead = date.seconds - clock.now.seconds
        heard.withLock { $0 = ahead }
    }
}

private struct ListeningClient: HTTPClient {
    let http: any HTTPClient
    let server: ServerClock

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let response = try await http.send(request)
        server.hear(response)
        return response
    }

    func close(kept name: String) async { await http.close(kept: name) }
}

extension HTTPResponse {
    /// The server's time of the answer (`Date`, RFC 9110, 6.6.1); nil if it is missing or unreadable.
    package var date: UnixTime? { header("Date").flatMap(UnixTime.init(httpDate:)) }

    /// How long the server asks to wait (`Retry-After`, RFC 9110, 10.2.3): seconds, or a date. A date is compared with the server's own
    /// ``date``, or with this machine's clock if the server sent none. At most a day, because a longer time is an error of the server.
    package var retryAfter: Duration? { waitingTime(by: SystemWallClock()) }

    /// - Parameter clock: this machine's clock.
    func waitingTime(by clock: any WallClock) -> Duration? {
        guard let text = header("Retry-After") else { return nil }
        let seconds: Double
        if !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Double(text) ?? 0
        } else if let end = UnixTime(httpDate: text) {
            seconds = (end.seconds - (date ?? clock.now).seconds).rounded(.up)
        } else {
            return nil
        }
        return .seconds(min(max(0, seconds), 86_400))
    }
}

extension UnixTime {
    /// Reads a date of HTTP (``CivilTime/init(httpDate:)``).
    package init?(httpDate text: String) {
        guard let time = CivilTime(httpDate: text)?.time else { return nil }
        self = time
    }
}

extension CivilTime {
    /// Creates the date and time of a moment, without its fraction of a second.
    package init(_ time: UnixTime) { self.init(secondsSince1970: Int(time.seconds.rounded(.down))) }

    package var time: UnixTime { UnixTime(seconds: Double(secondsSince1970)) }
}
