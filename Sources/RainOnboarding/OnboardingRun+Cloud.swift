import RainAccount
import RainMaker
import ESPProvisioning
import Logging
import RainCore

/// How long a run goes on without the cloud, or without the board, once everything else is done.
enum Patience {
    /// A computer that leaves a board's access point needs about this long to be back on its own network.
    static let cloudOutage = Duration.seconds(30)
    /// The claim service is asked again for this long; the board waits meanwhile.
    static let claimOutage = Duration.seconds(5)
    /// A board that left for its network reports to the cloud within seconds of the moment from which the cloud can say so, or not at
    /// all.
    static let lostBoard = Duration.seconds(20)
    /// A board that says nothing of its Wi-Fi may have told the cloud, which is asked this often.
    static let silence = Duration.seconds(2)
    /// Once the cloud has confirmed it, a board is on its network, and has this long to say so itself.
    static let lastWord = Duration.seconds(3)
    /// A board whose network has no internet yet may come to the cloud days later. In seconds of civil time.
    static let absentBoard = 7.0 * 24 * 3600
    /// What the cloud has just heard of an earlier run's board takes it a moment to confirm. For all of them together.
    static let leftOvers = Duration.seconds(2)
    /// How long the cloud is asked about earlier runs' boards before the one at hand has its turn; later runs ask about the others.
    static let leftOverCalls = Duration.seconds(10)
    /// How long a challenge stays good. Clients of this service ask for six minutes.
    static let challengeLifetime = Duration.seconds(360)
}

/// The steps that talk to the cloud.
extension OnboardingRun {
    func learnUser() async throws(OnboardingError) {
        guard let cloud else { return }
        do {
            user = try await cloud.user()
        } catch {
            throw failure(error)
        }
        if request.fetchesChallengeFirst { try await fetchChallenge() }
    }

    func fetchChallenge() async throws(OnboardingError) {
        guard let cloud else { return }
        do {
            challenge = try await cloud.mapping.initiateChallenge(lifetime: Patience.challengeLifetime)
        } catch {
            throw failure(error)
        }
    }

    /// Hands the board's signature to the cloud. When the cloud cannot be reached now, ``confirm()`` makes up for it.
    func verify() async throws(OnboardingError) {
        do {
            try await tellCloud()
        } catch {
            guard error.isTransient else { throw try refused(error) }
            emit(.deferred(error.message))
        }
    }

    /// The user's half of a mapping by secret, sent while the board is still joining. One try: ``confirm()`` has the patience.
    func announceMapping() async {
        defer { hasAnnounced = true }
        do {
            try await tellCloud()
        } catch {
            logger.debug("the mapping will be announced again", metadata: ["cause": "\(error.code)"])
        }
    }

    /// Returns some time after the cloud has confirmed the mapping, which it does for no board that is not on its network. Throws where
    /// that is not to be expected.
    func hearsOfBoard() async throws {
        guard case .secret? = pending?.proof else { throw CancellationError() }
        while true {
            try await time.sleep(max(Patience.silence, quietUntil - time.elapsed()))
            // Otherwise both would tell the cloud.
            guard hasAnnounced else { continue }
            let answer: CloudAnswer
            do throws(AccountError) {
                answer = try await askCloud()
                if case .confirmed = answer { try settleOrThrow() }
            } catch {
                guard error.isTransient else { throw error }
                continue
            }
            switch answer {
            case .confirmed: return try await time.sleep(Patience.lastWord)
            case .notYet: continue
            // For confirm() to say.
            case .ended: throw CancellationError()
            }
        }
    }

    /// Waits until the cloud knows, and says so.
    func confirm() async throws(OnboardingError) {
        var asking = PollSchedule.cloudStatus
        var knocking = PollSchedule.unreachable
        while !isConfirmed {
            let answer: CloudAnswer
            do throws(AccountError) {
                answer = try await askCloud()
                if case .confirmed = answer { return try settleOrThrow() }
                if cloudOutage != nil { told = time.elapsed() }
                cloudOutage = nil
                knocking = .unreachable
            } catch {
                guard error.isTransient else { throw try refused(error) }
                try noteOutage(error)
                try await pause(max(knocking.next(), .milliseconds(50), quietUntil - time.elapsed()))
                continue
            }
            if case .ended(let status) = answer {
                try settle(confirmed: false)
                throw OnboardingError(.mappingRefused(status), step: step, message: Self.sentence(ended: status))
            }
            if let lostBoard, time.elapsed() - max(lostBoard.since, told) > Patience.lostBoard {
                throw failure(lostBoard.error)
            }
            try await pause(asking.next())
        }
    }

    enum CloudAnswer {
        case confirmed, notYet
        /// The cloud gave the request up; only a new one can succeed.
        case ended(MappingStatus)
    }

    /// Tells the cloud what it has not heard yet, then asks.
    func askCloud() async throws(AccountError) -> CloudAnswer {
        do {
            return try await tellAndAsk()
        } catch {
            if let rest = error.retryAfter { quietUntil = time.elapsed() + rest }
            throw error
        }
    }

    private func tellAndAsk() async throws(AccountError) -> CloudAnswer {
        guard let cloud else { return .confirmed }
        try await tellCloud()
        guard case .secret(_, let request?)? = pending?.proof else {
            return isConfirmed || pending != nil ? .confirmed : .notYet
        }
        let status = try await cloud.mapping.mappingStatus(request)
        switch status {
        case .confirmed: return .confirmed
        case .requested, .other: return .notYet
        case .discarded: return .ended(status)
        case .timedOut:
            guard isStillToCome() else { return .ended(status) }
            try await tellCloud()
            return .notYet
        }
    }

    /// The cloud waited for the board as long as it does, minutes. A board whose network was away meanwhile still has the secret and
    /// reports it whenever it can; either side may come first, so the cloud is told the same one again.
    ///
    /// - Returns: false for a board that has been away for too long.
    private func isStillToCome() -> Bool {
        guard case .secret(let secret, _)? = pending?.proof else { return false }
        let since = pending?.since ?? clock.now
        guard clock.now < since + Patience.absentBoard else { return false }
        pending?.since = since
        pending?.proof = .secret(secret, request: nil)
        return true
    }

    static func sentence(ended status: MappingStatus) -> String {
        let why =
            status == .timedOut
            ? "the board has not reported for a week" : "the board reported another user or secret"
        return "The cloud did not confirm the mapping: \(why). Run the command again."
    }

    /// Sends the part of the mapping that the cloud does not have yet; nothing where it has everything.
    private func tellCloud() async throws(AccountError) {
        guard let cloud, let mapping = pending else { return }
        switch mapping.proof {
        case .secret(let secret, request: nil):
            let request = try await cloud.mapping.addMapping(
                node: mapping.node, secret: secret, notes: mapping.notes)
            pending?.proof = .secret(secret, request: request)
            told = time.elapsed()
            try keepOrThrow()
        case .secret: return
        case .signature(let signature, let request):
            try await cloud.mapping.verifyChallenge(
                request, node: mapping.node, signature: signature, notes: mapping.notes)
            try settleOrThrow()
        }
    }

    /// A store that fails in the middle of a cloud call is reported as the account's failure to keep something.
    private func keepOrThrow() throws(AccountError) {
        do { try keep { _ in } } catch { throw AccountError(.cannotStore, message: error.message) }
    }

    func settleOrThrow() throws(AccountError) {
        do { try settle(confirmed: true) } catch { throw AccountError(.cannotStore, message: error.message) }
    }

    /// An authoritative no: nothing to keep, unless it is the session that ended and signing in again will do.
    private func refused(_ error: AccountError) throws(OnboardingError) -> OnboardingError {
        if error.isRefusal { try settle(confirmed: false) }
        return failure(error)
    }

    private func noteOutage(_ error: AccountError) throws(OnboardingError) {
        if let cloudOutage {
            let patience = max(Patience.cloudOutage, error.retryAfter ?? .zero)
            guard time.elapsed() - cloudOutage.since < patience else { throw failure(error) }
        } else {
            cloudOutage = (error, time.elapsed())
            emit(.progress(.waitingForCloud))
        }
    }
}
