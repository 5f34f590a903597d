// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker

/// Puts one board on Wi-Fi and into the signed-in user's account. The only room where account and device meet.
///
/// A run is a list of steps (``OnboardingPlan``) with one deadline. What only a later run could finish is kept in the
/// pending-mapping store, and every run begins by finishing what earlier ones left there.
public struct Onboarder: Sendable {
    /// The cloud's part, needed only where boards are put into an account.
    public struct Cloud: Sendable {
        /// Who is signed in, fresh from the profile.
        public var user: @Sendable () async throws(AccountError) -> UserID
        /// Where the cloud hears the user's half of a mapping, and says what became of it.
        public var mapping: any NodeMapping
        /// What messages call it, such as its profile's name.
        public var name: String
        /// The service that claims boards; nil where the deployment has none.
        public var claiming: (any NodeClaiming)?
        /// What only a later run can finish: a store that outlives the process, where there is to be one.
        public var pending: any PendingMappingStore
        /// Which boards have been claimed and are not on their network yet. Held in memory, as by default, they are forgotten with
        /// the process, and another one claims again, in vain, a board that has not restarted.
        public var claimed: any ClaimedBoardStore

        public init(
            name: String = "this deployment", mapping: any NodeMapping, claiming: (any NodeClaiming)? = nil,
            pending: any PendingMappingStore,
            claimed: any ClaimedBoardStore = InMemoryClaimedBoards(),
            user: @escaping @Sendable () async throws(AccountError) -> UserID
        ) {
            self.name = name
            self.mapping = mapping
            self.claiming = claiming
            self.pending = pending
            self.claimed = claimed
            self.user = user
        }
    }

    private let board: any Board
    private let cloud: Cloud?
    private let time: Timekeeper
    private let clock: any WallClock
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let logger: Logger

    /// - Parameters:
    ///   - cloud: nil where no board is to be mapped.
    ///   - clock: tells how old is what earlier runs left.
    ///   - randomBytes: a cryptographic source, for the mapping secret.
    public init(
        board: any Board, cloud: Cloud?, time: Timekeeper = .continuous, clock: any WallClock = SystemWallClock(),
        logger: Logger, randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.board = board
        self.cloud = cloud
        self.time = time
        self.clock = clock
        self.randomBytes = randomBytes
        self.logger = logger
    }

    /// Runs every step and closes the board, however it ends.
    ///
    /// Throws ``OnboardingError``: `deadline` when the request's time is over, `cancelled` when the calling task was
    /// cancelled, and otherwise the cause of the step that failed. Events come in order, from one task at a time.
    public func run(
        _ request: OnboardingRequest, report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async throws(OnboardingError) -> OnboardedNode {
        let status = RunStatus(time: time, report: report)
        let context = RunContext(
            board: board, request: request, time: time, clock: clock, randomBytes: randomBytes, logger: logger,
            status: status)
        let run = OnboardingRun(context: context, cloud: request.usesCloud ? cloud : nil)
        let result = await withDeadline(request.deadline, sleep: time.sleep) {
            () async throws(OnboardingError) in try await run.node()
        }
        await board.close()
        switch result {
        case .success(let node)?: return node
        case .failure(let error)?:
            if case .cancelled = error.cause { status.emit(.failed(error)) }
            throw error
        case nil:
            let error = status.deadlineError(after: request.deadline)
            status.emit(.failed(error))
            throw error
        }
    }
}
