import Account
import ESPProvisioning
import Logging
import RainMaker
import Vocabulary

/// How long a run goes on without the cloud, or without the board, once everything else is done.
enum Patience {
    /// A computer that leaves a board's access point needs about this long to be back on its own network.
    static let cloudOutage = Duration.seconds(30)
    /// The claim service is asked again for this long; the board waits meanwhile.
    static let claimOutage = Duration.seconds(5)
    /// A board that left for its network reports to the cloud within seconds, or not at all.
    static let lostBoard = Duration.seconds(20)
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
        do {
            try await tellCloud()
        } catch {
            logger.debug("the mapping will be announced again", metadata: ["cause": "\(error.code)"])
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
                cloudOutage = nil
                knocking = .unreachable
            } catch {
                guard error.isTransient else { throw try refused(error) }
                try noteOutage(error)
                try await pause(max(knocking.next(), .milliseconds(50)))
                continue
            }
            if case .ended(let status) = answer {
                try settle(confirmed: false)
                throw OnboardingError(.mappingRefused(status), step: step, message: Self.sentence(ended: status))
            }
            if let lostBoard, time.elapsed() - lostBoard.since > Patience.lostBoard { throw failure(lostBoard.error) }
            try await pause(asking.next())
        }
    }

    private enum CloudAnswer {
        case confirmed, notYet
        /// The cloud gave the request up; only a new one can succeed.
        case ended(MappingStatus)
    }

    /// Tells the cloud what it has not heard yet, then asks.
    private func askCloud() async throws(AccountError) -> CloudAnswer {
        guard let cloud else { return .confirmed }
        try await tellCloud()
        guard case .secret(_, let request?)? = pending?.proof else {
            return isConfirmed || pending != nil ? .confirmed : .notYet
        }
        let status = try await cloud.mapping.mappingStatus(request)
        switch status {
        case .confirmed: return .confirmed
        case .requested, .other: return .notYet
        case .timedOut, .discarded: return .ended(status)
        }
    }

    private static func sentence(ended status: MappingStatus) -> String {
        let why =
            status == .timedOut
            ? "the cloud waited too long for the board" : "the board reported another user or secret"
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

    private func settleOrThrow() throws(AccountError) {
        do { try settle(confirmed: true) } catch { throw AccountError(.cannotStore, message: error.message) }
    }

    /// An authoritative no: nothing to keep, unless it is the session that ended and signing in again will do.
    private func refused(_ error: AccountError) throws(OnboardingError) -> OnboardingError {
        if error.isRefusal { try settle(confirmed: false) }
        return failure(error)
    }

    private func noteOutage(_ error: AccountError) throws(OnboardingError) {
        if let cloudOutage {
            guard time.elapsed() - cloudOutage.since < Patience.cloudOutage else { throw failure(error) }
        } else {
            cloudOutage = (error, time.elapsed())
            emit(.progress(.waitingForCloud))
        }
    }

    /// Finishes what earlier runs left for this user. What the cloud refuses for good is given up; what it cannot be asked
    /// now stays for the next run. What other runs are at work on is theirs: a workshop has several under way.
    func resumePending() async throws(OnboardingError) {
        guard let cloud, let user else { return }
        let left: [PendingMapping]
        do {
            left = try cloud.pending.all().filter { $0.user == user }
        } catch {
            throw failure(error)
        }
        for mapping in left {
            guard let mapping = try take(mapping, from: cloud.pending) else { continue }
            let goesOn = try await resume(mapping)
            (pending, hold, isConfirmed, confirmedNode) = (nil, nil, false, nil)
            guard goesOn else { break }
        }
    }

    /// A mapping that nobody is at work on, as it is now; nil where there is none, or nothing that a cloud could confirm.
    private func take(
        _ mapping: PendingMapping, from store: any PendingMappingStore
    ) throws(OnboardingError) -> PendingMapping? {
        do {
            hold = try store.hold(node: mapping.node)
            guard hold != nil else { return nil }
            // The run that had it may have ended since.
            guard let now = try store.all().first(where: { $0.node == mapping.node && $0.user == mapping.user }) else {
                hold = nil
                return nil
            }
            guard now.stage == .associated else { return now }
            try store.remove(node: now.node)
            hold = nil
            return nil
        } catch {
            throw failure(error)
        }
    }

    /// - Returns: whether it makes sense to ask the cloud about others.
    private func resume(_ mapping: PendingMapping) async throws(OnboardingError) -> Bool {
        pending = mapping
        isConfirmed = false
        var asking = PollSchedule.cloudStatus
        let began = time.elapsed()
        while !isConfirmed {
            do throws(AccountError) {
                switch try await askCloud() {
                case .confirmed: try settleOrThrow()
                case .notYet: break
                case .ended(let status):
                    throw AccountError(.rejected, message: Self.sentence(ended: status))
                }
            } catch {
                if error.isRefusal {
                    try settle(confirmed: false)
                    emit(.progress(.abandoned(mapping.node, error.message)))
                    return true
                }
                if error.isTransient, mapping.peer != board.peer {
                    emit(.deferred(error.message))
                    return false
                }
                throw failure(error)
            }
            if isConfirmed { break }
            // The board has had its time: only an online one is worth waiting for, and only while it is the one at hand.
            let patience: Duration = mapping.peer == board.peer ? Patience.lostBoard : .seconds(2)
            if time.elapsed() - began > patience { return true }
            try await pause(asking.next())
        }
        emit(.progress(.resumed(mapping.node)))
        if mapping.peer == board.peer { resumedNode = mapping.node }
        return true
    }
}
