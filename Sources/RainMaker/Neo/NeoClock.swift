// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import Synchronization

/// The time of signatures: this machine's, until the server has refused it. Then it is the server's.
///
/// AWS refuses a signature whose time differs from its own by more than five minutes. Its own clients correct the time in the same way.
final class NeoClock: WallClock {
    /// By how many seconds this machine's time is corrected.
    struct Correction: Sendable, Equatable {
        fileprivate var seconds = 0.0
    }

    /// The difference that AWS accepts, in seconds.
    static let tolerance = 300.0

    private let machine: any WallClock
    private let correction = Mutex(Correction())

    init(_ machine: any WallClock) { self.machine = machine }

    var now: UnixTime { machine.now + correction.withLock { $0.seconds } }

    /// Uses the server's time from now on. Returns the correction before.
    func follow(_ server: UnixTime) -> Correction {
        let ahead = server.seconds - machine.now.seconds
        return correction.withLock { correction in
            defer { correction.seconds = ahead }
            return correction
        }
    }

    func restore(_ earlier: Correction) { correction.withLock { $0 = earlier } }

    /// Returns by how many seconds the server's clock is ahead of this machine's.
    func difference(to server: UnixTime?) -> Double? { server.map { $0.seconds - machine.now.seconds } }
}

/// A refused request, and what shows whether the time of its signature is the cause.
struct NeoRefusal: Error {
    var error: AccountError
    /// The server's time of its answer.
    var serverTime: UnixTime?
    /// Whether the server refused the time of the signature.
    private(set) var isAboutTime = false

    /// Answers that name the time as the cause.
    private static let certain = [
        "signature expired", "signature not yet current", "requesttimetooskewed", "requestexpired",
        "requestinthefuture",
    ]
    /// Answers that a wrong time causes at some services. There the server's time decides.
    private static let possible = [
        "invalidsignatureexception", "signaturedoesnotmatch", "signature we calculated does not match",
    ]

    /// - Parameters:
    ///   - answer: nil if there was none.
    ///   - time: the time in the signature.
    init(_ error: AccountError, _ answer: HTTPResponse?, signedAt time: UnixTime) {
        self.error = error
        guard let answer, 400..<500 ~= answer.status else { return }
        serverTime = answer.date
        let words = [answer.header("x-amzn-ErrorType"), error.serverMessage].compactMap { $0?.lowercased() }
        func has(_ texts: [String]) -> Bool { texts.contains { text in words.contains { $0.contains(text) } } }
        let differs = serverTime.map { abs($0.seconds - time.seconds) > NeoClock.tolerance } ?? false
        isAboutTime = has(Self.certain) || has(Self.possible) && differs
    }

    /// - Parameter seconds: by how many the server's clock is ahead of this machine's; nil if the server has not told its time.
    func ofWrongClock(from host: String, ahead seconds: Double?) -> AccountError {
        var error = error
        let difference =
            seconds.map {
                "the server's clock is \(Self.text(abs($0))) \($0 < 0 ? "behind" : "ahead of") this machine's"
            }
            ?? "the server's clock and this machine's differ by more than five minutes"
        error.message =
            "\(host) does not accept the time in the signature of the request: \(difference). Set this machine's clock, then try again"
        // It is about keys, which are right.
        error.serverMessage = nil
        return error
    }

    private static func text(_ seconds: Double) -> String {
        let minutes = Int((min(seconds, 1e12) / 60).rounded())
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
