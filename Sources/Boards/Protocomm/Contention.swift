// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCrypto

/// Another client that takes the board's one session, and how this one gives way to it.
///
/// Two that take it back at once would keep each other from ever getting an answer. So each stays away for a while first, longer each time
/// and by chance, and then goes on where it was.
struct Contention: Sendable {
    /// How long to go on beside another client.
    static var patience: Duration { .seconds(20) }
    /// The same where nothing there has answered yet, and it may be no board at all.
    static var patienceBeforeAnswer: Duration { .seconds(2) }
    /// With no eviction for so long, the other client has gone.
    private static var memory: Duration { .seconds(10) }
    /// Proofs may have been counted by the board each time.
    private static var maximumUncertain: Int { 1 }

    private var span: (first: Duration, last: Duration)?
    private var longest = Duration.milliseconds(100)
    private var uncertain = 0

    /// Whether another client was noticed not long ago.
    func isRecent(_ now: Duration) -> Bool { span.map { now - $0.last <= Self.memory } ?? false }

    /// How long to stay away after an eviction; nil where this has gone on for too long.
    ///
    /// - Parameters:
    ///   - isCertain: false where a handshake was cut off and nothing but the broken connection speaks of another client.
    ///   - isCostly: where the board may have counted a proof, which it does not do often: better late than soon.
    ///   - chance: 0 to 255.
    mutating func rest(
        now: Duration, isCertain: Bool, hasAnswered: Bool, isCostly: Bool = false, chance: UInt8
    ) -> Duration? {
        if !isRecent(now) { self = Contention() }
        let first = span?.first ?? now
        span = (first, now)
        if !isCertain { uncertain += 1 }
        guard uncertain <= Self.maximumUncertain,
            now - first < (hasAnswered ? Self.patience : Self.patienceBeforeAnswer)
        else { return nil }
        if isCostly { longest = max(longest, .seconds(1)) }
        defer { longest = min(longest * 2, .seconds(2)) }
        return longest / 4 + longest * 3 / 4 * Int(chance) / 255
    }
}

extension ProtocommBoard {
    /// Stays away for a while and returns true; false where another client has had the board for too long.
    func waitsForOtherClient(_ error: ProtocommError) async -> Bool {
        let isCertain = error.endpoint != .session || error.cause?.reason != "connection_taken"
        guard
            let rest = contention.rest(
                now: time.elapsed(), isCertain: isCertain, hasAnswered: error.hasAnswered,
                isCostly: error.isProofInDoubt, chance: random.bytes(1).first ?? 0)
        else { return false }
        logger.debug("another client took the session; taking it back", metadata: ["peer": "\(peer)", "in": "\(rest)"])
        // Where the task was cancelled, the next exchange says so.
        try? await time.sleep(rest)
        return true
    }
}
