// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker

/// Puts one board on Wi-Fi and into the signed-in user's account. The only type that uses both the account and the board.
///
/// A run is a list of steps (``OnboardingPlan``) with one deadline. Work that only a later run can finish is saved in the pending-mapping
/// store. Every run first finishes the work that earlier runs saved there.
public struct Onboarder: Sendable {
    /// The cloud's part of a run. It is needed only if boards are put into an account.
    public struct Cloud: Sendable {
        /// Returns the signed-in user, fetched from the profile at each call.
        public var user: @Sendable () async throws(AccountError) -> UserID
        /// Sends the user's half of a mapping to the cloud, and asks for the mapping's status.
        public var mapping: any NodeMapping
        /// The cloud's name in messages, such as its profile's name.
        public var name: String
        /// The service that claims boards; nil if the deployment has no such service.
        public var claiming: (any NodeClaiming)?
        /// Keeps the mappings that only a later run can finish. Use a store that outlives the process, so that there can be a later run.
        public var pending: any PendingMappingStore
        /// Remembers the boards that have been claimed and are not on their network yet. The default keeps them in memory. The next process
        /// then claims a board that has not restarted a second time, which fails.
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
    ///   - cloud: nil if no board is to be mapped.
    ///   - clock: the civil time, which shows the age of what earlier runs left.
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

    /// Runs all steps, then closes the board whether they succeeded or not.
    ///
    /// Throws ``RainKitError``: `deadline` when the request's time is over, `cancelled` when the calling task was cancelled, and otherwise
    /// the cause of the step that failed. Events come in order, from one task at a time.
    public func run(
        _ request: OnboardingRequest, report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async throws(RainKitError) -> OnboardedNode {
        let status = RunStatus(time: time, report: report)
        let context = RunContext(
            board: board, request: request, time: time, clock: clock, randomBytes: randomBytes, logger: logger,
            status: status)
        let run = OnboardingRun(context: context, cloud: request.usesCloud ? cloud : nil)
        let result = await withDeadline(request.deadline, sleep: time.sleep) {
            () async throws(RainKitError) in try await run.node()
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
