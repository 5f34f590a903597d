// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker

/// One run of an ``Onboarder``: its steps in order. Each step uses what the steps before it have learnt.
struct OnboardingRun: Sendable {
    let context: RunContext
    /// Nil if no cloud is needed.
    let cloud: Onboarder.Cloud?

    func node() async throws(RainKitError) -> OnboardedNode {
        let account = try await signIn()
        let leftOvers = try await finishLeftOvers(account)
        let search = BoardIdentification(context: context, account: account)
        let found = try await context.perform(.identify) { () async throws(RainKitError) in
            try await search.find(leftOvers)
        }
        switch found {
        case .finishedEarlier(let node):
            return OnboardedNode(
                nodeID: node, network: nil, mapping: .confirmed, resumed: true, elapsed: context.status.elapsed)
        case .found(let board): return try await setUp(board, account)
        }
    }

    private var request: OnboardingRequest { context.request }

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
}

/// The steps of a board that has answered, as listed in its ``OnboardingPlan``.
extension OnboardingRun {
    func setUp(_ found: IdentifiedBoard, _ account: SignedIn?) async throws(RainKitError) -> OnboardedNode {
        let steps = plan(for: found.identity, account).steps
        if case .given(let wanted) = network(of: found.identity), wanted.isKey, !found.identity.takesWiFiKey {
            // Before anything is sent to the board.
            try await ask(.secure) { (_) throws(ProvisioningError) in try wanted.checkIsPassphrase() }
        }
        if steps.contains(.join), found.identity.joinsThreadOnly {
            // Before the board is put into an account.
            throw RainKitError(.joinsThread(context.board.peer))
        }
        let means = try await means(for: found.identity, account, steps)
        try await ask(.secure) { (board) throws(ProvisioningError) in try await board.secure() }
        let board = try await claim(found, account, steps)
        if steps.contains(.reset) {
            try await ask(.reset) { (board) throws(ProvisioningError) in try await board.reset() }
        }
        let network = try await network(for: found.identity)
        // A transport that supports only Wi-Fi settings requires that the board joins its network first.
        let joinsFirst = found.identity.associatesOnNetwork
        if joinsFirst { try await sendCustomData() }
        let early = joinsFirst ? try await join(network, mapping: nil) : nil
        guard let account, let means else {
            if !joinsFirst { try await sendCustomData() }
            let connection = joinsFirst ? early : try await join(network, mapping: nil)
            return try await finish(board, connection, account, mapping: nil)
        }
        let mapping = try await context.perform(.associate) { () async throws(RainKitError) in
            try await BoardAssociation(context: context, account: account).associate(board, by: means)
        }
        do throws(RainKitError) {
            try await verify(mapping, account)
            if !joinsFirst { try await sendCustomData() }
            let connection = joinsFirst ? early : try await join(network, mapping: mapping)
            return try await finish(board, connection, account, mapping: mapping)
        } catch {
            await mapping.end()
            throw error
        }
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

    /// Sends each item once, since only the application knows what a repetition would do.
    private func sendCustomData() async throws(RainKitError) {
        let all = context.request.customData
        guard !all.isEmpty else { return }
        try await ask(.customData) { (board) throws(ProvisioningError) in
            for data in all {
                let answer: [UInt8]
                do throws(ProvisioningError) {
                    answer = try await board.send(data.payload, to: data.endpoint)
                } catch {
                    var failure = error
                    if error.code != .cancelled {
                        failure.message += " The board has not been given its Wi-Fi settings."
                    }
                    throw failure
                }
                context.status.update { $0.answers.append(CustomData(answer, for: data.endpoint)) }
                context.tell(.customData(data.endpoint, answer: answer))
            }
        }
    }

    /// Returns how the board is tied to the user; nil if it is not.
    private func means(
        for identity: BoardIdentity, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(RainKitError) -> BoardAssociation.Means? {
        guard let account, steps.contains(.associate) else { return nil }
        guard steps.contains(.verify) else { return .secret }
        if let challenge = account.challenge { return .signature(challenge) }
        return .signature(
            try await context.perform(.challenge) { () async throws(RainKitError) in
                try await account.requireChallenge()
            }
        )
    }

    private func claim(
        _ board: IdentifiedBoard, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(RainKitError) -> IdentifiedBoard {
        guard let account, let service = account.cloud.claiming, steps.contains(.claim) else { return board }
        let claim = BoardClaim(context: context, account: account, service: service, memory: memory(account))
        return try await context.perform(.claim) { () async throws(RainKitError) in try await claim.claim(board) }
    }

    private func memory(_ account: SignedIn) -> ClaimMemory {
        ClaimMemory(store: account.cloud.claimed, logger: context.logger)
    }

    /// A board that is on its network already is not given another.
    private func network(of identity: BoardIdentity) -> OnboardingRequest.Network {
        identity.isOnNetwork ? .none : context.request.network
    }

    /// Returns the network that the board is to join; nil if its Wi-Fi is not changed.
    private func network(for identity: BoardIdentity) async throws(RainKitError) -> WiFiNetwork? {
        switch network(of: identity) {
        case .none: return nil
        case .given(let network): return network
        case .chosen(let choose):
            return try await context.perform(.scan) { () async throws(RainKitError) in
                try await WiFiSetup.choose(choose, context)
            }
        }
    }

    private func confirmation(of mapping: MappingConversation, _ account: SignedIn?) -> Confirmation {
        Confirmation(context: context, mapping: mapping, cloudName: account?.cloud.name ?? "the cloud")
    }

    /// Has the cloud verify the board's signature.
    private func verify(_ mapping: MappingConversation, _ account: SignedIn) async throws(RainKitError) {
        guard case .signature? = mapping.progress.pending?.proof else { return }
        let confirmation = confirmation(of: mapping, account)
        try await context.perform(.verify) { () async throws(RainKitError) in try await confirmation.verify() }
    }

    /// Sends the board its network and follows it there. Returns nil if its Wi-Fi is not changed.
    private func join(
        _ network: WiFiNetwork?, mapping: MappingConversation?
    ) async throws(RainKitError) -> Connection? {
        guard let network else { return nil }
        let wifi = WiFiSetup(context: context, mapping: mapping)
        let handOver = try await context.perform(.join) { () async throws(RainKitError) in
            let handOver = try await wifi.handOver(network)
            if case .mayBeJoining = handOver { context.status.emit(.deferred(UnansweringBoard.sentence)) }
            return handOver
        }
        return try await context.perform(.connect) { () async throws(RainKitError) in
            try await wifi.connect(handOver, to: network)
        }
    }

    /// The rest of the run, once the board has its network and belongs to the user, if requested.
    private func finish(
        _ board: IdentifiedBoard, _ connection: Connection?, _ account: SignedIn?, mapping: MappingConversation?
    ) async throws(RainKitError) -> OnboardedNode {
        let confirmation = mapping.map { self.confirmation(of: $0, account) }
        if let confirmation {
            try await context.perform(.confirm) { () async throws(RainKitError) in
                try await confirmation.confirm(board, connection)
                await endAssociation()
            }
        }
        let name = mapping?.progress.node ?? board.claimedNode ?? board.identity.nodeID
        // The board is on its network, and is not asked again before it has restarted.
        if connection?.network != nil, let name, let account { await memory(account).remove(name) }
        return OnboardedNode(
            nodeID: name, network: connection?.network, mapping: mapping == nil ? .skipped : .confirmed,
            claimed: board.claimedNode != nil, identity: board.identity, customData: context.status.answers,
            elapsed: context.status.elapsed)
    }

    /// Ends the board's association mode. The board is in the account by now, so a failure is only reported: the board still answers
    /// challenges.
    private func endAssociation() async {
        do throws(ProvisioningError) {
            try await context.board.endAssociation()
        } catch {
            context.tell(.associationLeftOpen(error.message))
        }
    }

    private func ask(
        _ step: OnboardingStep, _ question: @Sendable (any Board) async throws(ProvisioningError) -> Void
    ) async throws(RainKitError) {
        try await context.perform(step) { () async throws(RainKitError) in try await context.ask(question) }
    }
}

/// Finds the board, or learns that an earlier run has finished with it.
struct BoardIdentification: Sendable {
    enum Result {
        case found(IdentifiedBoard)
        case finishedEarlier(NodeID)
    }

    let context: RunContext
    let account: SignedIn?

    func find(_ leftOvers: PossibleMappings) async throws(RainKitError) -> Result {
        var here = leftOvers
        var schedule = PollSchedule.unreachable
        let began = context.time.elapsed()
        var hasTold = false
        while true {
            let absence: ProvisioningError
            switch await identity() {
            case .success(let identity): return .found(try check(identity, here))
            case .failure(let error) where error.isAbsence: absence = error
            case .failure(let error): throw RainKitError(error)
            }
            if let account,
                let node = try await UnfinishedMappingReview(context: context, account: account).finishedWithoutBoard(
                    &here)
            {
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

    private func identity() async -> Swift.Result<BoardIdentity, ProvisioningError> {
        do throws(ProvisioningError) {
            return .success(try await context.board.identify())
        } catch {
            return .failure(error)
        }
    }

    private func check(_ identity: BoardIdentity, _ here: PossibleMappings) throws(RainKitError) -> IdentifiedBoard {
        context.status.update { position in
            position.boardName = identity.nodeID
            // A board has answered: errors no longer refer to what an earlier run left.
            position.hasLeftOver = false
        }
        context.tell(.identified(identity))
        if let account, account.cloud.claiming == nil, identity.needsClaim == true {
            throw RainKitError(
                .claimNeeded,
                message:
                    "The board has no cloud certificate yet, and this deployment has no claim service that could give it one."
            )
        }
        if context.request.claimsOnly, identity.needsClaim == nil {
            throw .claimUnknown(identity.nodeID)
        }
        return IdentifiedBoard(identity: identity, leftOver: here.unconfirmed(for: identity.nodeID))
    }
}

extension ProvisioningError {
    /// Whether nothing answers at all. False for a board that stopped answering, and if another device has the board's
    /// address.
    fileprivate var isAbsence: Bool {
        (code == .unavailable || code == .neverAnswered) && reason != "not_a_board"
    }
}

/// A board that has answered.
struct IdentifiedBoard: Sendable {
    var identity: BoardIdentity
    /// What an earlier run left, if it may be about this board.
    var leftOver: UnfinishedMapping?
    /// The board's name since this run claimed it.
    var claimedNode: NodeID?
}
