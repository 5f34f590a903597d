// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker

extension RainKitClient {
    /// Puts a board on Wi-Fi and into the account of the signed-in user.
    ///
    /// ```swift
    /// let node = try await kit.provision(.bluetooth("PROV_a1b2c3"), proof: "abcd1234", network: home) { print($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - proof: the board's proof of possession; nil for a board that wants none. With one, a board that says that it speaks Security 0
    ///     is refused (`securityMismatch`), since everything would go in clear.
    ///   - report: is told what happens, in order.
    /// - Throws: `OnboardingError`: which step failed and why; `notSignedIn` before anything goes to the board.
    @discardableResult
    public func provision(
        _ address: BoardAddress, proof: ProofOfPossession? = nil, network: WiFiNetwork,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws(OnboardingError) -> OnboardedNode {
        try await provision(
            address, with: BoardCredentials(proof: proof), OnboardingRequest(network: .given(network)), report: report)
    }

    /// The same, with everything that can be asked for.
    ///
    /// Over a transport that leaves this machine's network, what the cloud has to give is fetched before the board is asked anything.
    @discardableResult
    public func provision(
        _ address: BoardAddress, with credentials: BoardCredentials, _ request: OnboardingRequest,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws(OnboardingError) -> OnboardedNode {
        let began = ContinuousClock.now
        let cloud = request.needsAccount ? try await signedInCloud() : nil
        let board: any Board
        do throws(ProvisioningError) {
            board = try await open(address, with: credentials, within: request.deadline)
        } catch {
            throw OnboardingError(
                error.code == .cancelled ? .cancelled : .board(error), step: .identify, message: error.message)
        }
        var request = request
        request.deadline = max(.zero, request.deadline - (ContinuousClock.now - began))
        let leavesNetwork = (try? transport(for: address))?.leavesNetwork ?? false
        if request.mapsToUser, leavesNetwork { request.fetchesChallengeFirst = true }
        return try await run(board, cloud, request, report)
    }

    /// Sets up a board that was opened by ``open(_:with:within:waitsForBoard:followsLog:)``, and closes it, however it ends.
    @discardableResult
    public func provision(
        _ board: any Board, _ request: OnboardingRequest,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws(OnboardingError) -> OnboardedNode {
        let cloud: Onboarder.Cloud?
        do throws(OnboardingError) {
            cloud = request.needsAccount ? try await signedInCloud() : nil
        } catch {
            await board.close()
            throw error
        }
        return try await run(board, cloud, request, report)
    }

    /// The same as a sequence of events, with the node at its end.
    public func provisioning(
        _ address: BoardAddress, proof: ProofOfPossession? = nil, network: WiFiNetwork
    ) -> ProvisioningRun {
        provisioning(address, with: BoardCredentials(proof: proof), OnboardingRequest(network: .given(network)))
    }

    /// The same with everything that can be asked for.
    public func provisioning(
        _ address: BoardAddress, with credentials: BoardCredentials, _ request: OnboardingRequest
    ) -> ProvisioningRun {
        ProvisioningRun { report async throws(OnboardingError) in
            try await self.provision(address, with: credentials, request, report: report)
        }
    }

    private func run(
        _ board: any Board, _ cloud: Onboarder.Cloud?, _ request: OnboardingRequest,
        _ report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async throws(OnboardingError) -> OnboardedNode {
        let onboarder = Onboarder(
            board: board, cloud: cloud, time: Timekeeper(configuration.tools.timer), clock: configuration.tools.clock,
            logger: configuration.logger, randomBytes: configuration.tools.randomBytes)
        let node: OnboardedNode
        do throws(OnboardingError) {
            node = try await onboarder.run(request, report: report)
        } catch {
            await endSession(at: cloud)
            throw error
        }
        await endSession(at: cloud)
        return node
    }
}

extension OnboardingRequest {
    /// Whether somebody has to be signed in for it.
    public var needsAccount: Bool { mapsToUser || claimsOnly }
}

/// A board that is being set up, as a sequence of what happens; its end is ``node``.
///
/// ```swift
/// let run = kit.provisioning(.serial("/dev/ttyUSB0"), proof: "abcd1234", network: home)
/// for try await event in run { print(event) }
/// let node = try await run.node
/// ```
///
/// The run begins at once. Leaving its loop, or letting go of the value, cancels it; so does cancelling the task that waits for ``node``.
public struct ProvisioningRun: AsyncSequence, Sendable {
    /// What happens to the board: a step begins, tells of its progress, and ends.
    public typealias Element = OnboardingEvent
    private let events: AsyncThrowingStream<OnboardingEvent, any Error>
    private let task: Task<OnboardedNode, any Error>

    init(
        _ run:
            @escaping @Sendable (
                @escaping @Sendable (OnboardingEvent) -> Void
            ) async throws(OnboardingError) -> OnboardedNode
    ) {
        // A run ends with its deadline, and so does what it has to tell.
        let (events, continuation) = AsyncThrowingStream.makeStream(of: OnboardingEvent.self)
        let task = Task {
            do {
                let node = try await run { continuation.yield($0) }
                continuation.finish()
                return node
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        continuation.onTermination = { reason in if case .cancelled = reason { task.cancel() } }
        self.events = events
        self.task = task
    }

    /// What came of it. Throws `OnboardingError`.
    public var node: OnboardedNode {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), task: task) }

    /// Hands out the events, and cancels the run when it is let go before their end, as when its loop is left.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator
        private let leaving: Leaving

        fileprivate init(
            events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator, task: Task<OnboardedNode, any Error>
        ) {
            self.events = events
            leaving = Leaving(task: task)
        }

        /// The next event; nil once the run has ended well. Throws `OnboardingError` where it has not.
        public mutating func next() async throws -> OnboardingEvent? { try await events.next() }
    }

    /// Cancels the run with the last copy of its iterator; a run that has ended does not notice.
    private final class Leaving: Sendable {
        private let task: Task<OnboardedNode, any Error>

        init(task: Task<OnboardedNode, any Error>) { self.task = task }

        deinit { task.cancel() }
    }
}

/// The cloud's part of setting up a board: who is signed in, and where the cloud hears whose the board is.
extension RainKitClient {
    /// Throws `notSignedIn` before anything is sent anywhere, and `missingParameter` for a provider whose users belong to no cloud that is
    /// described here.
    /// - Parameter notes: what is to be remembered with the board, for which the user's own cloud may have no place (`unsupported`).
    public func checkCanProvision(_ notes: MappingNotes = MappingNotes()) async throws(AccountError) {
        try (try await onboardingCloud().mapping as? HTTPNodeMapping)?.check(notes)
    }

    /// Forgets the unfinished mappings of the signed-in user. Nothing is sent, and the boards can be set up again. Mappings that another
    /// run is handling stay.
    /// - Returns: the nodes whose mappings were given up.
    @discardableResult
    public func forgetPendingMappings() async throws(OnboardingError) -> [NodeID] {
        let account: AccountAccess
        let user: UserID
        do throws(AccountError) {
            account = try self.account()
            user = try await account.session.userID()
        } catch {
            throw OnboardingError(
                error.code == .cancelled ? .cancelled : .account(error), step: .resume, message: error.message)
        }
        do throws(RecordStoreError) {
            return try await records(at: account.name).pending.forgetAll(of: user)
        } catch {
            throw OnboardingError(
                .cannotKeepPending(error), step: .resume,
                message: "What earlier runs left could not be given up: \(error).")
        }
    }

    func signedInCloud() async throws(OnboardingError) -> Onboarder.Cloud {
        do throws(AccountError) {
            return try await onboardingCloud()
        } catch {
            throw OnboardingError(
                error.code == .cancelled ? .cancelled : .account(error), step: .account, message: error.message)
        }
    }

    private func onboardingCloud() async throws(AccountError) -> Onboarder.Cloud {
        try checkBackend()
        let account = try account()
        let user = try await account.session.userID()
        let mapping = try mapping(account, user: user)
        try await (mapping as? HTTPNodeMapping)?.checkSession()
        let records = records(at: account.name)
        return Onboarder.Cloud(
            name: account.name, mapping: mapping, claiming: claiming(account), pending: records.pending,
            claimed: records.claimed
        ) { () async throws(AccountError) in
            let user = try await account.session.user().userID
            // A backend that refuses does so before anything is sent to the board.
            try await mapping.beginSession()
            return user
        }
    }

    /// How long a backend has to answer a sign-out.
    private static let signOutDeadline = Duration.seconds(2)

    /// Ends what a run has begun at the cloud, whatever came of the run.
    func endSession(at cloud: Onboarder.Cloud?) async {
        guard let mapping = cloud?.mapping else { return }
        let (timer, logger) = (configuration.tools.timer, configuration.logger)
        // Not a child of the caller's task: a cancelled task cannot send. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await mapping.endSession()
            }
            if case .success? = outcome { return }
            logger.debug("the backend was not signed out of")
        }.value
    }

    /// RainMaker's cloud knows RainMaker's users. Those of any other identity system belong to a cloud that only the user knows.
    private func checkBackend() throws(AccountError) {
        guard let provider = configuration.provider, configuration.backend == nil else { return }
        throw AccountError(
            .missingParameter,
            message: "users of \(title(of: provider)) belong to a cloud of your own, and none is described here",
            remedies: [.backend])
    }

    private func mapping(_ account: AccountAccess, user: UserID) throws(AccountError) -> any NodeMapping {
        if let nodes = account.nodes { return nodes }
        guard let backend = configuration.backend else {
            throw AccountError(
                .unsupported,
                message: "boards cannot be put into an account at \(account.provider?.title ?? account.name)")
        }
        // Tokens are not shared with a backend where the provider has codes for that (SPiD's documentation, "Login").
        var codes: HTTPNodeMapping.CodeSource?
        if let provider = account.provider, let spid = try? SPiDAccount(account.session, provider) {
            codes = { client throws(AccountError) in try await spid.code(for: .code(forClient: client)) }
        }
        return try HTTPNodeMapping(backend, session: account.session, user: user, http: account.http, codes: codes)
    }

    private func claiming(_ account: AccountAccess) -> (any NodeClaiming)? {
        account.deployment.flatMap { ClaimService($0, session: account.session) }
    }
}
