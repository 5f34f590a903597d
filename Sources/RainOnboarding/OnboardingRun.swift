import RainAccount
import RainMaker
import ESPProvisioning
import Logging
import RainCore

/// One run of an ``Onboarder``: what is known so far, and the steps that add to it.
actor OnboardingRun {
    let board: any Board
    let cloud: Onboarder.Cloud?
    let request: OnboardingRequest
    let time: Timekeeper
    let clock: any WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    let logger: Logger
    private let report: @Sendable (OnboardingEvent) -> Void
    private let began: Duration

    var step = OnboardingStep.account
    var attempt = 1
    var user: UserID?
    var identity: BoardIdentity?
    var challenge: MappingChallenge?
    /// What the board has been called since this run claimed it.
    var claimedNode: NodeID?
    var network: WiFiNetwork?
    var joined: JoinedNetwork?
    /// The board at hand, where an earlier run had finished with it but for the cloud.
    var resumedNode: NodeID?
    /// What an earlier run left of what may be the board at hand; nil from when on that is known.
    var awaited: LeftOver?
    /// What the cloud still has to confirm; nil once it has, or where nothing was asked of it.
    var pending: PendingMapping?
    /// Keeps other runs away from it.
    var hold: PendingMappingHold?
    var isConfirmed = false
    /// The board stopped answering after it had accepted its Wi-Fi, which may mean that all is well.
    var lostBoard: (error: ProvisioningError, since: Duration)?
    /// The last call to the cloud did not reach it.
    var cloudOutage: (error: AccountError, since: Duration)?
    /// When the cloud last heard something new about the board, or was within reach again.
    var told = Duration.zero
    /// Until when the cloud asked to be left alone.
    var quietUntil = Duration.zero
    /// The first try to announce the mapping is over, however it ended.
    var hasAnnounced = false

    init(
        board: any Board, cloud: Onboarder.Cloud?, request: OnboardingRequest, time: Timekeeper,
        clock: any WallClock, randomBytes: @escaping @Sendable (Int) -> [UInt8], logger: Logger,
        report: @escaping @Sendable (OnboardingEvent) -> Void
    ) {
        self.board = board
        self.cloud = cloud
        self.request = request
        self.time = time
        self.clock = clock
        self.randomBytes = randomBytes
        self.logger = logger
        self.report = report
        began = time.elapsed()
    }

    /// Takes every step.
    func node() async throws(OnboardingError) -> OnboardedNode {
        do throws(OnboardingError) {
            return try await run()
        } catch {
            forgetUnfinished()
            throw error
        }
    }

    /// A board without Wi-Fi cannot come to the cloud by itself: the next run associates it anew, and this secret is of no use.
    private func forgetUnfinished() {
        guard let pending, pending.stage == .associated else { return }
        do {
            try removeOwn(pending)
        } catch {
            logger.debug("a mapping stays in its file", metadata: ["cause": "\(error.message)"])
        }
    }

    private func run() async throws(OnboardingError) -> OnboardedNode {
        if cloud != nil {
            try await perform(.account)
            if request.mapsToUser { try await perform(.resume) }
        }
        try await perform(.identify)
        if identity == nil {
            return OnboardedNode(
                nodeID: resumedNode, network: nil, mapping: .confirmed, resumed: true, elapsed: elapsed)
        }
        for step in plan.steps { try await perform(step) }
        if joined != nil { forgetClaim() }
        return OnboardedNode(
            nodeID: nodeID, network: joined, mapping: mapsToUser ? .confirmed : .skipped, claimed: claimedNode != nil,
            identity: identity, elapsed: elapsed)
    }

    private var mapsToUser: Bool { cloud != nil && request.mapsToUser }
    private var claims: Bool { cloud != nil && identity?.needsClaim == true }

    private var plan: OnboardingPlan {
        let (scans, joins) =
            switch request.network {
            case .given: (false, true)
            case .chosen: (true, true)
            case .none: (false, false)
            }
        return OnboardingPlan(
            association: mapsToUser ? identity?.association : nil, claims: claims, hasChallenge: challenge != nil,
            resetsFirst: request.resetsFirst, scans: scans, joins: joins)
    }

    private func perform(_ step: OnboardingStep) async throws(OnboardingError) {
        self.step = step
        emit(.started)
        do throws(OnboardingError) {
            guard !Task.isCancelled else { throw cancelled }
            switch step {
            case .account: try await learnUser()
            case .resume: try await resumePending()
            case .challenge: try await fetchChallenge()
            case .identify: try await identify()
            case .secure: try await ask { (board) throws(ProvisioningError) in try await board.secure() }
            case .claim: try await claim()
            case .reset: try await ask { (board) throws(ProvisioningError) in try await board.reset() }
            case .scan: try await chooseNetwork()
            case .associate: try await associate()
            case .verify: try await verify()
            case .join: try await join()
            case .connect: try await connect()
            case .confirm: try await confirm()
            }
        } catch {
            // Whether somebody cancelled, or the time was over, is known only outside.
            if case .cancelled = error.cause { throw error }
            emit(.failed(error))
            throw error
        }
        emit(.finished)
    }

    // MARK: What every step needs

    var elapsed: Duration { time.elapsed() - began }
    var nodeID: NodeID? { confirmedNode ?? pending?.node ?? claimedNode ?? identity?.nodeID }
    var confirmedNode: NodeID?

    func emit(_ state: OnboardingEvent.State) {
        report(OnboardingEvent(step: step, state: state, attempt: attempt, elapsed: elapsed, nodeID: nodeID))
    }

    func ask<Answer: Sendable>(
        _ question: @Sendable (any Board) async throws(ProvisioningError) -> Answer
    ) async throws(OnboardingError) -> Answer {
        do {
            return try await question(board)
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: ProvisioningError) -> OnboardingError {
        if error.code == .cancelled { return cancelled }
        return OnboardingError(.board(error), step: step, message: error.message, isPendingKept: isWorthResuming)
    }

    func failure(_ error: AccountError) -> OnboardingError {
        if error.code == .cancelled { return cancelled }
        return OnboardingError(.account(error), step: step, message: error.message, isPendingKept: isWorthResuming)
    }

    func failure(_ error: RecordStoreError) -> OnboardingError {
        OnboardingError(
            .cannotKeepPending(error), step: step,
            message:
                "The pending mapping could not be kept in \(error.path): \(error.message). If the folder is not writable, make "
                + "it so.")
    }

    var cancelled: OnboardingError {
        OnboardingError(
            .cancelled, step: step, message: "Cancelled in step \(step.rawValue).", isPendingKept: isWorthResuming)
    }

    /// Once another board has answered, what was left is not what its errors speak of.
    var isWorthResuming: Bool { pending.map { $0.stage != .associated } ?? (awaited != nil && identity == nil) }

    func keep(_ change: (inout PendingMapping) -> Void) throws(OnboardingError) {
        guard var mapping = pending, let cloud else { return }
        change(&mapping)
        pending = mapping
        do {
            // The run that had it when the board was associated may have let go.
            if hold == nil { hold = try cloud.pending.hold(node: mapping.node) }
            try cloud.pending.save(mapping)
        } catch {
            throw failure(error)
        }
    }

    /// The cloud has its answer, one way or the other: nothing is left for a later run.
    func settle(confirmed: Bool) throws(OnboardingError) {
        guard let mapping = pending, cloud != nil else { return }
        if confirmed {
            isConfirmed = true
            confirmedNode = mapping.node
        }
        pending = nil
        do {
            try removeOwn(mapping)
            hold = nil
        } catch {
            throw failure(error)
        }
    }

    /// Where another run has associated the same board since, what is kept is that run's.
    private func removeOwn(_ mapping: PendingMapping) throws(RecordStoreError) {
        guard let store = cloud?.pending, try store.all().contains(where: { $0.isSameAssociation(as: mapping) }) else {
            return
        }
        try store.remove(node: mapping.node)
    }

    /// Why the run is late, told by what it was waiting for.
    func deadlineError() -> OnboardingError {
        if let lostBoard { return failure(lostBoard.error) }
        if let cloudOutage { return failure(cloudOutage.error) }
        let seconds = request.deadline.formattedSeconds
        let hint = step.whatHoldsItUp ?? "More time may do."
        return OnboardingError(
            .deadline, step: step, message: "Not done after \(seconds) s, in step \(step.rawValue). \(hint)",
            isPendingKept: isWorthResuming)
    }
}

extension Duration {
    /// Whole or tenths of seconds, such as `120` or `0.5`.
    var formattedSeconds: String {
        let tenths = (self / .milliseconds(100)).rounded()
        return tenths.truncatingRemainder(dividingBy: 10) == 0
            ? "\(Int(tenths) / 10)" : "\(Int(tenths) / 10).\(Int(tenths) % 10)"
    }
}

extension ProvisioningError {
    /// Nobody is there at all, as opposed to somebody who stopped answering.
    var isAbsence: Bool { code == .unavailable || code == .neverAnswered }
}
