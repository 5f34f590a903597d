// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

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

    private let board: UnopenedBoard
    private let cloud: Cloud?
    private let time: Timekeeper
    private let clock: any WallClock
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let logger: Logger

    /// - Parameters:
    ///   - board: opened by the step `identify`, and closed at the end of the run.
    ///   - cloud: nil if no board is to be mapped.
    ///   - clock: the civil time, which shows the age of what earlier runs left.
    ///   - randomBytes: a cryptographic source, for the mapping secret.
    public init(
        board: UnopenedBoard, cloud: Cloud?, time: Timekeeper = .continuous, clock: any WallClock = SystemWallClock(),
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
            peer: board.peer, request: request, time: time, clock: clock, randomBytes: randomBytes, logger: logger,
            status: status)
        let connection = BoardConnection(board)
        let run = OnboardingRun(context: context, connection: connection, cloud: request.usesCloud ? cloud : nil)
        let (sleep, timeAsked) = (time.sleep, request.timeAsked)
        let result = await withDeadline(
            request.deadline, sleep: { try await sleepWithoutQuestions($0, timeAsked: timeAsked, sleep: sleep) },
            { () async throws(RainKitError) in try await run.node() })
        await connection.close()
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

/// The board of a run: opened when it is first asked, and closed with the run.
private final class BoardConnection: Sendable {
    private let unopened: UnopenedBoard
    private let opened = Mutex<(any Board)?>(nil)

    init(_ unopened: UnopenedBoard) { self.unopened = unopened }

    func board() async throws(BoardError) -> any Board {
        if let board = opened.withLock({ $0 }) { return board }
        let board = try await unopened.open()
        opened.withLock { $0 = board }
        return board
    }

    /// Called once nothing of the run is running any more.
    func close() async {
        if let board = opened.withLock({ $0 }) { await board.close() } else { await unopened.close() }
    }
}

/// One run of an ``Onboarder``. ``node()`` has its steps, in the order of `docs/flow.md`; each of them uses what the steps before it have
/// learnt. The claim, the Wi-Fi settings and the mapping are subjects of their own, each with its own file.
private struct OnboardingRun: Sendable {
    let context: RunContext
    let connection: BoardConnection
    /// Nil if no cloud is needed.
    let cloud: Onboarder.Cloud?

    private var request: OnboardingRequest { context.request }

    func node() async throws(RainKitError) -> OnboardedNode {
        var account = try await signIn()
        let leftOvers = try await finishLeftOvers(account)
        switch try await identify(leftOvers, &account) {
        case .finishedEarlier(let node): return alreadyOnline(node)
        case .found(let board, let found): return try await setUp(board, found, account)
        }
    }

    /// The result for a board that an earlier run has set up.
    private func alreadyOnline(_ node: NodeID) -> OnboardedNode {
        OnboardedNode(nodeID: node, network: nil, mapping: .confirmed, resumed: true, elapsed: context.status.elapsed)
    }

    /// The steps of a board that has answered, as listed in its ``OnboardingPlan``.
    private func setUp(
        _ board: any Board, _ found: IdentifiedBoard, _ account: SignedIn?
    ) async throws(RainKitError) -> OnboardedNode {
        let steps = plan(for: found.identity, account).steps
        if case .given(let wanted) = network(of: found.identity), wanted.isKey, !found.identity.takesWiFiKey {
            // Before anything is sent to the board.
            try await ask(board, .secure) { (_) throws(BoardError) in try wanted.checkIsPassphrase() }
        }
        if steps.contains(.join), found.identity.joinsThreadOnly {
            // Before the board is put into an account.
            throw RainKitError(.joinsThread(context.peer))
        }
        // challenge
        let means = try await means(for: found.identity, account, steps)
        try await ask(board, .secure) { (board) throws(BoardError) in try await board.secure() }
        let found = try await claim(board, found, account, steps)
        if steps.contains(.reset) {
            try await ask(board, .reset) { (board) throws(BoardError) in try await board.reset() }
        }
        // scan
        let network: WiFiNetwork?
        switch try await self.network(for: found, board, means, account) {
        case .join(let wanted): network = wanted
        case .keep: network = nil
        case .alreadyOnline(let node): return alreadyOnline(node)
        }
        // A transport that supports only Wi-Fi settings requires that the board joins its network first.
        let joinsFirst = found.identity.associatesOnNetwork
        if joinsFirst { try await sendCustomData(board) }
        var joining = context.time.elapsed()
        let early = joinsFirst ? try await join(network, board, mapping: nil) : nil
        guard let account, let means else {
            if !joinsFirst { try await sendCustomData(board) }
            let connection = joinsFirst ? early : try await join(network, board, mapping: nil)
            return try await finish(board, found, connection, account, mapping: nil)
        }
        var mapping = try await associate(board, found, by: means, account)
        do throws(RainKitError) {
            mapping = try await verify(mapping, board, found, account)
            if !joinsFirst {
                try await sendCustomData(board)
                joining = context.time.elapsed()
            }
            let connection = joinsFirst ? early : try await join(network, board, mapping: mapping)
            return try await finish(board, found, connection, account, mapping: mapping, joining: joining)
        } catch {
            await mapping.end()
            throw error
        }
    }

    // MARK: account, resume

    private func signIn() async throws(RainKitError) -> SignedIn? {
        guard let cloud else { return nil }
        return try await context.perform(.account) { () async throws(RainKitError) in
            var account = try await SignedIn(cloud)
            if request.fetchesChallengeFirst { try await account.fetchChallengeEarly() }
            return account
        }
    }

    private func finishLeftOvers(_ account: SignedIn?) async throws(RainKitError) -> PossibleMappings {
        guard let account, request.mapsToUser else { return PossibleMappings() }
        return try await context.perform(.resume) { () async throws(RainKitError) in
            try await UnfinishedMappingReview(context: context, account: account).finishAll()
        }
    }

    // MARK: identify

    /// The board that has answered, or the node of an earlier run that has finished with it.
    private enum Found {
        case found(any Board, IdentifiedBoard)
        case finishedEarlier(NodeID)
    }

    private func identify(
        _ leftOvers: PossibleMappings, _ account: inout SignedIn?
    ) async throws(RainKitError) -> Found {
        try await context.perform(.identify) { () async throws(RainKitError) in try await find(leftOvers, &account) }
    }

    /// Opens the board and asks for its identity, again and again while it may still appear.
    private func find(
        _ leftOvers: PossibleMappings, _ account: inout SignedIn?
    ) async throws(RainKitError) -> Found {
        var here = leftOvers
        var schedule = PollSchedule.unreachable
        let began = context.time.elapsed()
        var hasTold = false
        if request.endsWithFinishedMapping, let node = here.finishedNode { return .finishedEarlier(node) }
        while true {
            let absence: BoardError
            switch try await identity(&account) {
            case .success(let (board, identity)): return .found(board, try check(identity, here, account))
            case .failure(let error) where error.isAbsence: absence = error
            case .failure(let error): throw RainKitError(error)
            }
            if let account,
                let node = try await UnfinishedMappingReview(context: context, account: account).finishedWithoutBoard(
                    &here)
            {
                return .finishedEarlier(node)
            }
            if let node = absence.provisionedNode, await isOnline(node, account) {
                context.tell(.alreadyOnline(node))
                return .finishedEarlier(node)
            }
            let mayStillReport =
                (here.unconfirmed != nil || here.unseen != nil) && context.time.elapsed() - began < WaitLimits.lostBoard
            guard context.request.waitsForBoard || mayStillReport else { throw RainKitError(absence) }
            if !hasTold { context.tell(.waitingForBoard) }
            hasTold = true
            try await context.pause(schedule.next())
        }
    }

    /// Opens the board and asks for its identity. Work that needs the internet is done in between, if the log on a cable has named the
    /// board's own network.
    private func identity(
        _ account: inout SignedIn?
    ) async throws(RainKitError) -> Result<(any Board, BoardIdentity), BoardError> {
        let board: any Board
        do throws(BoardError) {
            board = try await connection.board()
        } catch {
            return .failure(error)
        }
        if request.mapsToUser, await board.leavesNetwork { try await account?.fetchChallengeEarly() }
        do throws(BoardError) {
            let identity = try await board.identify()
            return .success((board, identity))
        } catch {
            return .failure(error)
        }
    }

    /// Whether a board that accepts no Wi-Fi settings is online in the account, so that the run has nothing left to do.
    private func isOnline(_ node: NodeID, _ account: SignedIn?) async -> Bool {
        guard let account, request.mapsToUser, !request.resetsFirst else { return false }
        return (try? await account.cloud.mapping.connectivity(of: node))?.isConnected == true
    }

    private func check(
        _ identity: BoardIdentity, _ here: PossibleMappings, _ account: SignedIn?
    ) throws(RainKitError) -> IdentifiedBoard {
        context.status.update { position in
            (position.boardName, position.identity) = (identity.nodeID, identity)
            // A board has answered: errors no longer refer to what an earlier run left.
            position.hasLeftOver = false
        }
        context.tell(.identified(identity))
        if let label = context.request.label, let printed = identity.printed?.serviceName,
            label.lowercased() != printed.lowercased()
        {
            throw .otherBoard(label, instead: printed)
        }
        if let expected = context.request.expectedNode {
            if let node = identity.nodeID { try context.check(node, is: expected) }
            if identity.needsClaim == true { throw .otherNode(expected, instead: nil) }
        }
        if let account, account.cloud.claiming == nil, identity.needsClaim == true {
            throw RainKitError(
                .claimNeeded,
                message:
                    "The board has no cloud certificate yet, and this deployment has no claim service that could give the board a "
                    + "certificate."
            )
        }
        if context.request.claimsOnly {
            if identity.speaksImprov { throw .claimOverImprov }
            if identity.needsClaim == nil { throw .claimUnknown(identity.nodeID) }
        }
        return IdentifiedBoard(identity: identity, leftOver: here.unconfirmed(for: identity.nodeID))
    }

    private func plan(for identity: BoardIdentity, _ account: SignedIn?) -> OnboardingPlan {
        let (scans, joins) =
            switch network(of: identity) {
            case .given: (false, true)
            case .chosen: (true, true)
            case .none: (false, false)
            }
        return OnboardingPlan(
            association: account != nil && context.request.mapsToUser ? identity.association : nil,
            claims: account != nil && identity.needsClaim == true, hasChallenge: account?.challenge != nil,
            resetsFirst: context.request.resetsFirst, scans: scans, joins: joins,
            sendsData: !context.request.customData.isEmpty, joinsFirst: identity.associatesOnNetwork)
    }

    // MARK: challenge, claim

    /// How the board is tied to the user.
    private enum Means {
        /// Board and cloud get the same secret.
        case secret
        /// The board signs the cloud's challenge.
        case signature(MappingChallenge)
    }

    /// Returns how the board is tied to the user; nil if it is not.
    private func means(
        for identity: BoardIdentity, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(RainKitError) -> Means? {
        guard let account, steps.contains(.associate) else { return nil }
        guard steps.contains(.verify) else {
            // Before anything is sent to the board.
            guard account.cloud.mapping.acceptsSecrets else { throw .signsNoChallenge(at: account.cloud.name) }
            return .secret
        }
        if let challenge = account.challenge { return .signature(challenge) }
        return .signature(
            try await context.perform(.challenge) { () async throws(RainKitError) in
                try await account.requireChallenge()
            }
        )
    }

    private func claim(
        _ board: any Board, _ found: IdentifiedBoard, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(RainKitError) -> IdentifiedBoard {
        guard let account, let service = account.cloud.claiming, steps.contains(.claim) else {
            if let account, context.request.claimsOnly { try await checkHasRainMaker(board, found.identity, account) }
            return found
        }
        let claim = BoardClaim(
            context: context, board: board, account: account, service: service, memory: memory(account))
        return try await context.perform(.claim) { () async throws(RainKitError) in try await claim.claim(found) }
    }

    /// Throws if a board that needs no claim has none because its firmware lacks RainMaker.
    ///
    /// The version information of a claimed board may not mention RainMaker either, so the board is asked for its node id. It gets a user
    /// and a secret that the cloud never receives. They have no effect, and the next run replaces them.
    private func checkHasRainMaker(
        _ board: any Board, _ identity: BoardIdentity, _ account: SignedIn
    ) async throws(RainKitError) {
        guard identity.nodeID == nil, identity.rainMakerVersion == nil, identity.association == .userMapping else {
            return
        }
        let question = AssociationRequest.userMapping(
            account.user, MappingSecret(randomBytes: context.randomBytes(16)))
        do throws(BoardError) {
            _ = try await board.associate(question)
        } catch {
            switch error.code {
            case .notRainMaker: throw .nothingToClaim
            case .cancelled, .deviceLost: throw RainKitError(error)
            default: return
            }
        }
    }

    private func memory(_ account: SignedIn) -> ClaimMemory {
        ClaimMemory(store: account.cloud.claimed, logger: context.logger)
    }

    // MARK: scan

    /// A board that is on its network already is not given another.
    private func network(of identity: BoardIdentity) -> OnboardingRequest.Network {
        identity.isOnNetwork ? .none : context.request.network
    }

    /// What to do with the board's Wi-Fi.
    private enum NetworkDecision {
        case join(WiFiNetwork)
        /// It is not changed.
        case keep
        /// The board is on a network already. The cloud sees it online in the account, so nothing is left to do.
        case alreadyOnline(NodeID)
    }

    private func network(
        for found: IdentifiedBoard, _ board: any Board, _ means: Means?, _ account: SignedIn?
    ) async throws(RainKitError) -> NetworkDecision {
        switch network(of: found.identity) {
        case .none: return .keep
        case .given(let network): return .join(network)
        case .chosen(let choose):
            return try await context.perform(.scan) { () async throws(RainKitError) -> NetworkDecision in
                let wifi = WiFiSetup(context: context, board: board, mapping: nil)
                guard !found.identity.canScan, let ask = context.request.networkByName else {
                    do throws(RainKitError) {
                        return .join(try await wifi.choose(choose))
                    } catch {
                        guard error.board?.isOnNetwork == true,
                            let node = await onlineNode(found, board, means, account)
                        else { throw error }
                        context.tell(.alreadyOnline(node))
                        return .alreadyOnline(node)
                    }
                }
                context.tell(.cannotListNetworks)
                guard let network = await ask() else { throw .cancelled }
                return .join(network)
            }
        }
    }

    /// Returns the node of a board that is on a network already, if the cloud sees this node online in the account.
    private func onlineNode(
        _ found: IdentifiedBoard, _ board: any Board, _ means: Means?, _ account: SignedIn?
    ) async -> NodeID? {
        guard let account, await !board.isOffline else { return nil }
        var node = found.claimedNode ?? found.identity.nodeID
        if node == nil, case .signature(let challenge)? = means {
            // The reply has the board's name. A signature changes nothing on the board, and this one is not sent to the cloud.
            let reply = try? await context.ask(board) { (board) throws(BoardError) in
                try await board.associate(.challenge(challenge.challenge))
            }
            node = reply?.nodeID
        }
        guard let node, await isOnline(node, account) else { return nil }
        return node
    }

    // MARK: associate, verify

    /// Ties the board to the user. Returns the mapping that is now to be sent to the cloud.
    private func associate(
        _ board: any Board, _ found: IdentifiedBoard, by means: Means, _ account: SignedIn
    ) async throws(RainKitError) -> MappingConversation {
        try await context.perform(.associate) { () async throws(RainKitError) in
            let association = BoardAssociation(context: context, board: board, found: found, account: account)
            switch means {
            case .secret: return try await keep(association.shareSecret())
            case .signature(let challenge):
                let signed = try await association.sign(challenge)
                guard let node = context.request.mappedNode, signed.progress.node == node else {
                    return try await keep(signed)
                }
                // The cloud has confirmed this node in an earlier run, so it gets no second answer.
                context.status.update { $0.mapping = signed }
                try await signed.settle(confirmed: true)
                return signed
            }
        }
    }

    /// Stores the mapping that is now to be sent to the cloud.
    private func keep(_ conversation: MappingConversation) async throws(RainKitError) -> MappingConversation {
        context.status.update { $0.mapping = conversation }
        do throws(RainKitError) {
            // If another run is mapping this node, our secret has just replaced its secret on the board, so that mapping can no longer
            // succeed.
            try await conversation.keep()
        } catch {
            await conversation.end()
            throw error
        }
        return conversation
    }

    private func confirmation(
        of mapping: MappingConversation, _ board: any Board, _ account: SignedIn?
    ) -> Confirmation {
        Confirmation(
            context: context, board: board, mapping: mapping, cloudName: account?.cloud.name ?? "the cloud")
    }

    /// Has the cloud verify the board's signature. Returns the mapping with the signature that the cloud has, or that it gets later.
    private func verify(
        _ mapping: MappingConversation, _ board: any Board, _ found: IdentifiedBoard, _ account: SignedIn
    ) async throws(RainKitError) -> MappingConversation {
        guard case .signature? = mapping.progress.pending?.proof else { return mapping }
        return try await context.perform(.verify) { () async throws(RainKitError) in
            // On the board's own network there is no cloud, so there the signature has to wait in any case.
            guard account.cloud.mapping.challengesTakeOneAnswer, await !board.isOffline else {
                try await confirmation(of: mapping, board, account).verify()
                return mapping
            }
            return try await verified(mapping, board, found, account)
        }
    }

    /// Sends the signature. If no reply arrives, the board signs another challenge, until the cloud has accepted or refused one. Throws the
    /// last error if the cloud stays away.
    private func verified(
        _ first: MappingConversation, _ board: any Board, _ found: IdentifiedBoard, _ account: SignedIn
    ) async throws(RainKitError) -> MappingConversation {
        let association = BoardAssociation(context: context, board: board, found: found, account: account)
        var patience = ChallengePatience(end: context.time.elapsed() + WaitLimits.cloudOutage)
        var mapping = first
        do throws(RainKitError) {
            while true {
                let failure: AccountError
                do throws(AccountError) {
                    try await mapping.tell()
                    context.status.update { $0.trouble = nil }
                    return mapping
                } catch {
                    failure = error
                }
                guard failure.isTransient else { throw try await mapping.failure(failure) }
                let challenge = try await newChallenge(after: failure, account, &patience)
                // Another run may have the node as soon as this ends. The store then refuses the next one.
                await mapping.end()
                mapping = try await keep(association.sign(challenge))
            }
        } catch {
            await mapping.end()
            throw error
        }
    }

    /// Returns another challenge, once the cloud can be reached again.
    private func newChallenge(
        after first: AccountError, _ account: SignedIn, _ patience: inout ChallengePatience
    ) async throws(RainKitError) -> MappingChallenge {
        var failure = first
        while true {
            let pause = max(patience.schedule.next(), failure.retryAfter ?? .zero)
            guard failure.isTransient, context.time.elapsed() + pause < patience.end else {
                throw RainKitError(failure)
            }
            let trouble = RainKitError(failure)
            context.status.update { $0.trouble = trouble }
            if !patience.isReported { context.tell(.waitingForCloud) }
            patience.isReported = true
            try await context.pause(pause)
            do throws(AccountError) { return try await account.newChallenge() } catch { failure = error }
        }
    }

    // MARK: custom_data, join, connect

    /// Sends each item once, since only the application knows what a repetition would do.
    private func sendCustomData(_ board: any Board) async throws(RainKitError) {
        let all = context.request.customData
        guard !all.isEmpty else { return }
        try await ask(board, .customData) { (board) throws(BoardError) in
            for data in all {
                let answer: [UInt8]
                do throws(BoardError) {
                    answer = try await board.send(data.payload, to: data.endpoint)
                } catch {
                    var failure = error
                    if error.code != .cancelled {
                        failure.message += " The Wi-Fi settings were not sent to the board."
                    }
                    throw failure
                }
                context.status.update { $0.answers.append(CustomData(answer, for: data.endpoint)) }
                context.tell(.customData(data.endpoint, answer: answer))
            }
        }
    }

    /// Sends the board its network and follows it there. Returns nil if its Wi-Fi is not changed.
    private func join(
        _ network: WiFiNetwork?, _ board: any Board, mapping: MappingConversation?
    ) async throws(RainKitError) -> Connection? {
        guard let network else { return nil }
        let wifi = WiFiSetup(context: context, board: board, mapping: mapping)
        let handOver = try await context.perform(.join) { () async throws(RainKitError) in
            let handOver = try await wifi.handOver(network)
            if case .mayBeJoining(let lost) = handOver { context.status.emit(.deferred(lost.sentence)) }
            return handOver
        }
        if case .alreadyOnline(let node) = handOver { return .alreadyOnline(node) }
        return try await context.perform(.connect) { () async throws(RainKitError) in
            try await wifi.connect(handOver, to: network)
        }
    }

    // MARK: confirm

    /// The rest of the run, once the board has its network and belongs to the user, if requested.
    private func finish(
        _ board: any Board, _ found: IdentifiedBoard, _ connection: Connection?, _ account: SignedIn?,
        mapping: MappingConversation?, joining: Duration = .zero
    ) async throws(RainKitError) -> OnboardedNode {
        if case .alreadyOnline(let node)? = connection {
            // The cloud has the board in the account, so it does not need this run's mapping.
            try await mapping?.settle(confirmed: false)
            return alreadyOnline(node)
        }
        let confirmation = mapping.map { self.confirmation(of: $0, board, account) }
        if let confirmation {
            try await context.perform(.confirm) { () async throws(RainKitError) in
                try await confirmation.confirm(found, connection, joining: joining)
                await endAssociation(board)
            }
        }
        let name = mapping?.progress.node ?? found.claimedNode ?? found.identity.nodeID
        // The board is on its network, and is not asked again before it has restarted.
        if connection?.network != nil, let name, let account { await memory(account).remove(name) }
        return OnboardedNode(
            nodeID: name, network: connection?.network, mapping: mapping == nil ? .skipped : .confirmed,
            claimed: found.claimedNode != nil, identity: found.identity, customData: context.status.answers,
            elapsed: context.status.elapsed)
    }

    /// Ends the board's association mode. The board is in the account by now, so a failure is only reported: the board still answers
    /// challenges.
    private func endAssociation(_ board: any Board) async {
        do throws(BoardError) {
            try await board.endAssociation()
        } catch {
            context.tell(.associationLeftOpen(error.message))
        }
    }

    private func ask(
        _ board: any Board, _ step: OnboardingStep,
        _ question: @Sendable (any Board) async throws(BoardError) -> Void
    ) async throws(RainKitError) {
        try await context.perform(step) { () async throws(RainKitError) in try await context.ask(board, question) }
    }
}

extension BoardError {
    /// Whether nothing answers at all. False for a board that stopped answering, and if another device has the board's
    /// address.
    fileprivate var isAbsence: Bool {
        (code == .unavailable || code == .neverAnswered) && reason != "not_a_board"
    }
}

/// How long a run asks a cloud that does not reply for new challenges.
private struct ChallengePatience {
    let end: Duration
    var schedule = PollSchedule.unreachable
    /// Whether the run has reported that it waits.
    var isReported = false
}

/// A board that has answered.
struct IdentifiedBoard: Sendable {
    var identity: BoardIdentity
    /// What an earlier run left, if it may be about this board.
    var leftOver: UnfinishedMapping?
    /// The board's name since this run claimed it.
    var claimedNode: NodeID?
}

/// The messages by which the board and the cloud learn of each other: one secret for both, or the board's signature.
private struct BoardAssociation: Sendable {
    let context: RunContext
    let board: any Board
    let found: IdentifiedBoard
    let account: SignedIn

    func shareSecret() async throws(RainKitError) -> MappingConversation {
        if let again = try await associateAgain() { return again }
        let secret = MappingSecret(randomBytes: context.randomBytes(16))
        return conversation(about: try await tell(secret), .secret(secret, request: nil))
    }

    func sign(_ challenge: MappingChallenge) async throws(RainKitError) -> MappingConversation {
        let reply = try await context.ask(board) { (board) throws(BoardError) in
            try await board.associate(.challenge(challenge.challenge))
        }
        try check(reply.nodeID)
        return conversation(about: reply.nodeID, .signature(reply.signature, request: challenge.request))
    }

    /// Sends the secret of an earlier run again to a board that may have it already. The board may be joining its network with that secret,
    /// and the cloud may have it.
    ///
    /// - Returns: nil if there is no such secret, or if the board is another one, which needs its own secret.
    private func associateAgain() async throws(RainKitError) -> MappingConversation? {
        guard var left = found.leftOver, case .secret(let secret, let request) = left.mapping.proof,
            try await tell(secret) == left.mapping.node
        else { return nil }
        // If the cloud has the secret, it also has the notes of that run.
        if request == nil { left.mapping.notes = context.request.notes }
        return context.conversation(about: left.mapping, hold: left.hold, with: account.cloud)
    }

    private func tell(_ secret: MappingSecret) async throws(RainKitError) -> NodeID {
        let user = account.user
        let reply = try await context.ask(board) { (board) throws(BoardError) in
            try await board.associate(.userMapping(user, secret))
        }
        try check(reply.nodeID)
        return reply.nodeID
    }

    private func conversation(about node: NodeID, _ proof: PendingMapping.Proof) -> MappingConversation {
        let mapping = PendingMapping(
            node: node, user: account.user, proof: proof, stage: .associated, peer: context.peer,
            label: context.request.label, notes: context.request.notes, since: context.clock.now)
        return context.conversation(about: mapping, with: account.cloud)
    }

    /// Checks that a claimed board answers with its new name. Under its old name the cloud would never hear from it.
    private func check(_ node: NodeID) throws(RainKitError) {
        if let expected = context.request.expectedNode { try context.check(node, is: expected) }
        guard let claimedNode = found.claimedNode, claimedNode != node else { return }
        throw RainKitError(
            BoardError(
                .claimFailed,
                message:
                    "The board was claimed as \(claimedNode), but still calls itself \(node). Restart the board, then try again."
            ))
    }
}

extension RainKitError {
    /// - Parameter printed: the name in the board's log.
    fileprivate static func otherBoard(_ label: String, instead printed: String) -> RainKitError {
        RainKitError(
            BoardError(
                .rejected,
                message:
                    "This board is \(printed.onOneLine) according to its log, not \(label.onOneLine). Check which board is on the cable.",
                reason: "unexpected_node"))
    }

    /// - Parameter node: the board's own node id; nil if it is not claimed.
    fileprivate static func otherNode(_ expected: NodeID, instead node: NodeID?) -> RainKitError {
        let found = node.map { "the board calls itself \("\($0)".onOneLine)" } ?? "the board is not claimed"
        return RainKitError(
            BoardError(
                .rejected,
                message:
                    "This board should be the node \("\(expected)".onOneLine), but \(found). Check the board's label, and which image was written to the board.",
                reason: "unexpected_node"))
    }
}

extension RunContext {
    fileprivate func check(_ node: NodeID, is expected: NodeID) throws(RainKitError) {
        guard node != expected else { return }
        throw .otherNode(expected, instead: node)
    }
}

/// What every step gets: the request, the clocks, and the status that reports events.
struct RunContext: Sendable {
    /// The board's name in messages and in pending mappings: its host or its port.
    let peer: String
    let request: OnboardingRequest
    let time: Timekeeper
    let clock: any WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    let logger: Logger
    let status: RunStatus
    let quiet = QuietPeriod()

    /// Runs one step, and reports its beginning and its end.
    func perform<Learned>(
        _ step: OnboardingStep, _ body: () async throws(RainKitError) -> Learned
    ) async throws(RainKitError) -> Learned {
        status.begin(step)
        do throws(RainKitError) {
            guard !Task.isCancelled else { throw .cancelled }
            try await request.checkpoint?(status.checkpoint(.started, of: step))
            let learned = try await body()
            try await request.checkpoint?(status.checkpoint(status.isDeferred ? .deferred : .finished, of: step))
            status.finish()
            return learned
        } catch {
            let unfinished = error.unfinished ?? error.silentHost.map { "\($0) has not answered" }
            if let unfinished { status.update { $0.unfinished = unfinished } }
            let error = status.error(error)
            // Only the caller knows whether somebody cancelled or the time was over.
            if case .cancelled = error.cause { throw error }
            status.emit(.failed(error))
            throw error
        }
    }

    func ask<Answer: Sendable>(
        _ board: any Board, _ question: @Sendable (any Board) async throws(BoardError) -> Answer
    ) async throws(RainKitError) -> Answer {
        do throws(BoardError) {
            return try await question(board)
        } catch {
            throw RainKitError(error)
        }
    }

    func pause(_ duration: Duration) async throws(RainKitError) {
        do { try await time.sleep(duration) } catch { throw .cancelled }
    }

    func tell(_ progress: OnboardingProgress) { status.emit(.progress(progress)) }

    func conversation(
        about mapping: PendingMapping, hold: PendingMappingHold? = nil, with cloud: Onboarder.Cloud
    ) -> MappingConversation {
        MappingConversation(
            about: mapping, hold: hold, cloud: cloud.mapping, store: cloud.pending, time: time, clock: clock,
            quiet: quiet, logger: logger)
    }
}

/// The account that a run works for: the cloud, and its signed-in user.
struct SignedIn: Sendable {
    let cloud: Onboarder.Cloud
    let user: UserID
    /// The result of fetching a challenge before the board was contacted; nil if that was not tried.
    private var early: Result<MappingChallenge, AccountError>?

    init(_ cloud: Onboarder.Cloud) async throws(RainKitError) {
        self.cloud = cloud
        do throws(AccountError) {
            user = try await cloud.user()
        } catch {
            throw RainKitError(error)
        }
    }

    /// The challenge that was fetched before the board was asked anything.
    var challenge: MappingChallenge? { try? early?.get() }

    /// Fetches a challenge before it is known whether the board signs one.
    ///
    /// Most boards that are reached over their own access point sign none, and a private deployment may refuse `mapping/initiate`. A
    /// failure here therefore matters only to a board that needs the challenge (``requireChallenge()``). A session that has ended matters
    /// to every board.
    mutating func fetchChallengeEarly() async throws(RainKitError) {
        guard early == nil else { return }
        do throws(AccountError) {
            early = .success(try await newChallenge())
        } catch {
            guard !error.endsSession else { throw RainKitError(error) }
            early = .failure(error)
        }
    }

    /// Returns the challenge for a board that signs one.
    ///
    /// Asks a cloud that was down once more. If that fails too, it throws the first error: the computer may have left the internet for the
    /// board's access point since.
    func requireChallenge() async throws(RainKitError) -> MappingChallenge {
        do throws(AccountError) {
            switch early {
            case .success(let challenge)?: return challenge
            case .failure(let error)? where !error.isTransient: throw error
            case .failure, nil: return try await newChallenge()
            }
        } catch {
            guard case .failure(let first)? = early, error.isTransient else {
                throw .noChallenge(error)
            }
            throw .noChallenge(first)
        }
    }

    /// Fetches a challenge.
    func newChallenge() async throws(AccountError) -> MappingChallenge {
        try await cloud.mapping.initiateChallenge(lifetime: WaitLimits.challengeLifetime)
    }
}

extension AccountError {
    /// Whether no request to the cloud can succeed any more.
    fileprivate var endsSession: Bool { [.expired, .notSignedIn, .notRenewable, .cancelled].contains(code) }
}

extension RainKitError {
    fileprivate static func signsNoChallenge(at cloud: String) -> RainKitError {
        RainKitError(
            BoardError(
                .unsupported,
                message:
                    "\(cloud) accepts only boards that sign a challenge (the capability ch_resp), but this board does not sign. The "
                    + "board's firmware is probably for another cloud, or too old."))
    }

    fileprivate static func noChallenge(_ error: AccountError) -> RainKitError {
        var error = error
        error.message = "the cloud did not send the challenge that the board has to sign: \(error.message)"
        return RainKitError(error)
    }
}

/// How long a run waits for the cloud or the board, once everything else is done.
enum WaitLimits {
    /// A computer that leaves a board's access point needs about this long to return to its own network.
    static let cloudOutage = Duration.seconds(30)
    /// The claim service is asked again for this long; the board waits meanwhile.
    static let claimOutage = Duration.seconds(5)
    /// A board that has joined its network reports to the cloud within seconds, or never. The time runs from the moment at which the cloud
    /// can show it.
    static let lostBoard = Duration.seconds(20)
    /// A board that is on its network reports to its cloud within seconds. Espressif's own client gives up after a minute.
    static let report = Duration.seconds(60)
    /// A board that reports nothing about its Wi-Fi may have reported to the cloud. The cloud is asked this often.
    static let betweenCloudChecks = Duration.seconds(2)
    /// How long a board that could not join is asked how it hears the network. A scan takes firmware up to 5 s.
    static let explanation = Duration.seconds(8)
    /// Once the cloud has confirmed a board, the board is on its network, and has this long to report it itself.
    static let boardAfterCloud = Duration.seconds(3)
    /// A board whose network has no internet yet may come to the cloud days later. In seconds of civil time.
    static let absentBoard = 7.0 * 24 * 3600
    /// The cloud needs a moment to confirm what it has just received about a board of an earlier run. For all such boards together.
    static let leftOvers = Duration.seconds(2)
    /// How long the cloud is asked about boards of earlier runs before this run's own board. Later runs ask about the others.
    static let leftOverCalls = Duration.seconds(10)
    /// How long a challenge is valid. Clients of this service ask for six minutes.
    static let challengeLifetime = Duration.seconds(360)
}
