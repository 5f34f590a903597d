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
    ///   - proof: the board's proof of possession; nil for a board that needs none. With a proof, a board that reports Security 0 is
    ///   refused (`securityMismatch`), since everything would be sent unencrypted.
    ///   - report: called for each event, in order.
    /// - Throws: `RainKitError`: which step failed and why; `notSignedIn` before anything is sent to the board.
    @discardableResult
    public func provision(
        _ address: BoardAddress, proof: ProofOfPossession? = nil, network: WiFiNetwork,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws -> OnboardedNode {
        try await provision(
            address, with: BoardCredentials(proof: proof), OnboardingRequest(network: .given(network)), report: report)
    }

    /// Puts a board on Wi-Fi and into the account, with all options of a request.
    ///
    /// Over a transport that leaves this machine's network, the cloud's data is fetched before the board is asked anything.
    @discardableResult
    public func provision(
        _ address: BoardAddress, with credentials: BoardCredentials, _ request: OnboardingRequest,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws -> OnboardedNode {
        let cloud = request.needsAccount ? try await signedInCloud() : nil
        return try await provision(address, with: credentials, request, account: cloud, report: report)
    }

    /// Puts a board into an account that ``checkCanProvision(_:)`` has returned.
    func provision(
        _ address: BoardAddress, with credentials: BoardCredentials, _ request: OnboardingRequest,
        account cloud: Onboarder.Cloud?, report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async throws -> OnboardedNode {
        let began = ContinuousClock.now
        let board: UnopenedBoard
        do throws(BoardError) {
            board = try await locateBoard(address, with: credentials, within: request.deadline)
        } catch {
            throw RainKitError(
                error.code == .cancelled ? .cancelled : .board(error), step: .identify, message: error.message)
        }
        var request = request
        request.deadline = max(.zero, request.deadline - (ContinuousClock.now - began))
        let leavesNetwork = (try? registeredTransport(for: address))?.leavesNetwork ?? false
        if request.mapsToUser, leavesNetwork { request.fetchesChallengeFirst = true }
        return try await run(board, cloud, request, report)
    }

    /// Sets up a board that was opened by ``open(_:with:within:waitsForBoard:followsLog:)``, and closes it whether that succeeds or not.
    @discardableResult
    public func provision(
        _ board: any Board, _ request: OnboardingRequest,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws -> OnboardedNode {
        try await provision(UnopenedBoard(board), request, report: report)
    }

    /// Sets up a board that was found by `locate`: opens it, and closes it whether that succeeds
    /// or not.
    /// - Parameter account: the result of ``checkCanProvision(_:)``, if that was called; otherwise it is made here.
    @discardableResult
    public func provision(
        _ board: UnopenedBoard, _ request: OnboardingRequest, account: Onboarder.Cloud? = nil,
        report: @escaping @Sendable (OnboardingEvent) -> Void = { _ in }
    ) async throws -> OnboardedNode {
        var cloud = request.needsAccount ? account : nil
        do throws(RainKitError) {
            if request.needsAccount, cloud == nil { cloud = try await signedInCloud() }
        } catch {
            await board.close()
            throw error
        }
        return try await run(board, cloud, request, report)
    }

    /// Sets a board up as a sequence of events, with the node at its end.
    public func provisioning(
        _ address: BoardAddress, proof: ProofOfPossession? = nil, network: WiFiNetwork
    ) -> ProvisioningRun {
        provisioning(address, with: BoardCredentials(proof: proof), OnboardingRequest(network: .given(network)))
    }

    /// Sets a board up as a sequence of events, with all options of a request.
    public func provisioning(
        _ address: BoardAddress, with credentials: BoardCredentials, _ request: OnboardingRequest
    ) -> ProvisioningRun {
        ProvisioningRun { report in
            try await self.provision(address, with: credentials, request, report: report)
        }
    }

    private func run(
        _ board: UnopenedBoard, _ cloud: Onboarder.Cloud?, _ request: OnboardingRequest,
        _ report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async throws(RainKitError) -> OnboardedNode {
        let onboarder = Onboarder(
            board: board, cloud: cloud, time: Timekeeper(configuration.tools.timer), clock: configuration.tools.clock,
            logger: configuration.logger, randomBytes: configuration.tools.randomBytes)
        let node: OnboardedNode
        do throws(RainKitError) {
            node = try await onboarder.run(request, report: report)
        } catch {
            await endSession(at: cloud)
            throw error
        }
        await endSession(at: cloud)
        return await name(node, request, report: report)
    }
}

extension OnboardingRequest {
    /// Whether the request needs a signed-in user.
    public var needsAccount: Bool { mapsToUser || claimsOnly }
}

/// A board that is being set up, as a sequence of events. The result is ``node``.
///
/// ```swift
/// let run = kit.provisioning(.serial("/dev/ttyUSB0"), proof: "abcd1234", network: home)
/// for try await event in run { print(event) }
/// let node = try await run.node
/// ```
///
/// The run begins at once. Leaving its loop, or releasing the value, cancels it; so does cancelling the task that waits for ``node``.
public struct ProvisioningRun: AsyncSequence, Sendable {
    /// An event: a step begins, reports its progress, or ends.
    public typealias Element = OnboardingEvent
    private let events: AsyncThrowingStream<OnboardingEvent, any Error>
    private let task: Task<OnboardedNode, any Error>

    init(
        _ run:
            @escaping @Sendable (
                @escaping @Sendable (OnboardingEvent) -> Void
            ) async throws -> OnboardedNode
    ) {
        // A run ends with its deadline, so its events are limited too.
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

    /// The result of the run. Throws `RainKitError`.
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

    /// Passes on the events. Cancels the run when it is released before their end, as when the loop is left.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator
        private let leaving: Leaving

        fileprivate init(
            events: AsyncThrowingStream<OnboardingEvent, any Error>.Iterator, task: Task<OnboardedNode, any Error>
        ) {
            self.events = events
            leaving = Leaving(task: task)
        }

        /// Returns the next event; nil once the run has succeeded. Throws `RainKitError` if it has failed.
        public mutating func next() async throws -> OnboardingEvent? { try await events.next() }
    }

    /// Cancels the run with the last copy of its iterator. On a run that has ended it has no effect.
    private final class Leaving: Sendable {
        private let task: Task<OnboardedNode, any Error>

        init(task: Task<OnboardedNode, any Error>) { self.task = task }

        deinit { task.cancel() }
    }
}

/// The cloud's part of setting up a board: the signed-in user, and the cloud that records the board's user.
extension RainKitClient {
    /// Checks that boards can be put into the account. Throws `notSignedIn` before anything is sent anywhere. Throws `missingParameter` for
    /// a provider whose users need their own cloud, if the configuration describes none.
    /// - Parameter notes: the tags and metadata for the board. The user's own cloud may not support them (`unsupported`).
    /// - Returns: the account's part of a run, for ``provision(_:_:account:report:)``.
    @discardableResult
    public func checkCanProvision(_ notes: MappingNotes = MappingNotes()) async throws -> Onboarder.Cloud {
        try await RainKitError.rethrowing { () async throws(AccountError) in
            let cloud = try await onboardingCloud()
            try (cloud.mapping as? HTTPNodeMapping)?.check(notes)
            return cloud
        }
    }

    /// Removes the unfinished mappings of the signed-in user. Nothing is sent, and the boards can be set up again. Mappings that another
    /// run is handling stay.
    /// - Returns: the nodes whose mappings were given up.
    @discardableResult
    public func forgetPendingMappings() async throws -> [NodeID] {
        let account: AccountAccess
        let user: UserID
        do throws(AccountError) {
            account = try accountInUse()
            user = try await account.session.userID()
        } catch {
            throw RainKitError(
                error.code == .cancelled ? .cancelled : .account(error), step: .resume, message: error.message)
        }
        do throws(RecordStoreError) {
            return try await records(at: account.name).pending.forgetAll(of: user)
        } catch {
            throw RainKitError(
                .cannotKeepPending(error), step: .resume,
                message: "The unfinished mappings of earlier runs could not be removed: \(error).")
        }
    }

    func signedInCloud() async throws(RainKitError) -> Onboarder.Cloud {
        do throws(AccountError) {
            return try await onboardingCloud()
        } catch {
            throw RainKitError(
                error.code == .cancelled ? .cancelled : .account(error), step: .account, message: error.message)
        }
    }

    private func onboardingCloud() async throws(AccountError) -> Onboarder.Cloud {
        try checkBackend()
        let account = try accountInUse()
        // From the stored session: nothing is sent, and it shows whether somebody is signed in. The run's step `account` fetches the user.
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

    /// Ends the run's session at the cloud, whether the run succeeded or not.
    func endSession(at cloud: Onboarder.Cloud?) async {
        guard let mapping = cloud?.mapping else { return }
        let (timer, logger) = (configuration.tools.timer, configuration.logger)
        // A cancelled task cannot send, so this is not a child of the caller's task. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await mapping.endSession()
            }
            if case .success? = outcome { return }
            logger.debug("the sign-out from the backend failed")
        }.value
    }

    /// RainMaker's cloud knows RainMaker's users. Users of any other identity system need a cloud that is described in the configuration.
    private func checkBackend() throws(AccountError) {
        guard let provider = configuration.provider, configuration.backend == nil else { return }
        throw AccountError(
            .missingParameter,
            message:
                "RainMaker's cloud does not know users of \(title(of: provider)), and you gave no file that describes your own cloud",
            remedies: [.backend])
    }

    private func mapping(_ account: AccountAccess, user: UserID) throws(AccountError) -> any NodeMapping {
        if let nodes = account.nodes { return nodes }
        guard let backend = configuration.backend else {
            throw AccountError(
                .unsupported,
                message: "boards cannot be put into an account at \(account.provider?.title ?? account.name)")
        }
        // If the provider issues codes for a backend, the backend gets a code and no tokens (SPiD's documentation, "Login").
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
