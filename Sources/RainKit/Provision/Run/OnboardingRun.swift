// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker

/// One run of an ``Onboarder``: its steps in order, where each takes what those before have learnt.
struct OnboardingRun: Sendable {
    let context: RunContext
    /// Nil where no cloud is needed.
    let cloud: Onboarder.Cloud?

    func node() async throws(OnboardingError) -> OnboardedNode {
        let account = try await signIn()
        let leftOvers = try await finishLeftOvers(account)
        let search = BoardIdentification(context: context, account: account)
        let found = try await context.perform(.identify) { () async throws(StepFailure) in
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

    private func signIn() async throws(OnboardingError) -> SignedIn? {
        guard let cloud else { return nil }
        return try await context.perform(.account) { () async throws(StepFailure) in
            var account = try await SignedIn(cloud)
            if request.fetchesChallengeFirst { try await account.fetchChallengeEarly() }
            return account
        }
    }

    private func finishLeftOvers(_ account: SignedIn?) async throws(OnboardingError) -> LeftOversHere {
        guard let account, request.mapsToUser else { return LeftOversHere() }
        return try await context.perform(.resume) { () async throws(StepFailure) in
            try await LeftOverReview(context: context, account: account).finishAll()
        }
    }
}

/// The steps of a board that has answered, as far as its ``OnboardingPlan`` has them.
extension OnboardingRun {
    func setUp(_ found: IdentifiedBoard, _ account: SignedIn?) async throws(OnboardingError) -> OnboardedNode {
        let steps = plan(for: found.identity, account).steps
        if case .given(let wanted) = network(of: found.identity), wanted.isKey, !found.identity.takesWiFiKey {
            // Before anything is sent to the board.
            try await ask(.secure) { (_) throws(ProvisioningError) in try wanted.checkIsPassphrase() }
        }
        let means = try await means(for: found.identity, account, steps)
        try await ask(.secure) { (board) throws(ProvisioningError) in try await board.secure() }
        let board = try await claim(found, account, steps)
        if steps.contains(.reset) {
            try await ask(.reset) { (board) throws(ProvisioningError) in try await board.reset() }
        }
        let network = try await network(for: found.identity)
        // Over a way that knows of Wi-Fi alone the board comes to its network first.
        let joinsFirst = found.identity.associatesOnNetwork
        if joinsFirst { try await sendCustomData() }
        let early = joinsFirst ? try await join(network, mapping: nil) : nil
        guard let account, let means else {
            if !joinsFirst { try await sendCustomData() }
            let connection = joinsFirst ? early : try await join(network, mapping: nil)
            return try await finish(board, connection, account, mapping: nil)
        }
        let mapping = try await context.perform(.associate) { () async throws(StepFailure) in
            try await BoardAssociation(context: context, account: account).associate(board, by: means)
        }
        do throws(OnboardingError) {
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

    /// Once each, since what a repetition would do only the application knows.
    private func sendCustomData() async throws(OnboardingError) {
        let all = context.request.customData
        guard !all.isEmpty else { return }
        try await ask(.customData) { (board) throws(ProvisioningError) in
            for data in all {
                let answer: [UInt8]
                do throws(ProvisioningError) {
                    answer = try await board.send(data.payload, to: data.endpoint)
                } catch {
                    var failure = error
                    if error.code != .cancelled { failure.message += " It has not been given its Wi-Fi settings." }
                    throw failure
                }
                context.status.update { $0.answers.append(CustomData(answer, for: data.endpoint)) }
                context.tell(.customData(data.endpoint, answer: answer))
            }
        }
    }

    /// How the board is tied to the user; nil where it is not.
    private func means(
        for identity: BoardIdentity, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(OnboardingError) -> BoardAssociation.Means? {
        guard let account, steps.contains(.associate) else { return nil }
        guard steps.contains(.verify) else { return .secret }
        if let challenge = account.challenge { return .signature(challenge) }
        return .signature(
            try await context.perform(.challenge) { () async throws(StepFailure) in try await account.requireChallenge()
            }
        )
    }

    private func claim(
        _ board: IdentifiedBoard, _ account: SignedIn?, _ steps: [OnboardingStep]
    ) async throws(OnboardingError) -> IdentifiedBoard {
        guard let account, let service = account.cloud.claiming, steps.contains(.claim) else { return board }
        let claim = BoardClaim(context: context, account: account, service: service, memory: memory(account))
        return try await context.perform(.claim) { () async throws(StepFailure) in try await claim.claim(board) }
    }

    private func memory(_ account: SignedIn) -> ClaimMemory {
        ClaimMemory(store: account.cloud.claimed, logger: context.logger)
    }

    /// A board that is on its network already is asked to join none.
    private func network(of identity: BoardIdentity) -> OnboardingRequest.Network {
        identity.isOnNetwork ? .none : context.request.network
    }

    /// The network that the board is to join; nil where its Wi-Fi is left alone.
    private func network(for identity: BoardIdentity) async throws(OnboardingError) -> WiFiNetwork? {
        switch network(of: identity) {
        case .none: return nil
        case .given(let network): return network
        case .chosen(let choose):
            return try await context.perform(.scan) { () async throws(StepFailure) in
                try await WiFiSetup.choose(choose, context)
            }
        }
    }

    private func confirmation(of mapping: MappingConversation, _ account: SignedIn?) -> Confirmation {
        Confirmation(context: context, mapping: mapping, cloudName: account?.cloud.name ?? "the cloud")
    }

    /// Has the cloud look at what the board has signed.
    private func verify(_ mapping: MappingConversation, _ account: SignedIn) async throws(OnboardingError) {
        guard case .signature? = mapping.progress.pending?.proof else { return }
        let confirmation = confirmation(of: mapping, account)
        try await context.perform(.verify) { () async throws(StepFailure) in try await confirmation.verify() }
    }

    /// Hands the board its network and follows it there; nil where its Wi-Fi is left alone.
    private func join(
        _ network: WiFiNetwork?, mapping: MappingConversation?
    ) async throws(OnboardingError) -> Connection? {
        guard let network else { return nil }
        let wifi = WiFiSetup(context: context, mapping: mapping)
        let handOver = try await context.perform(.join) { () async throws(StepFailure) in
            let handOver = try await wifi.handOver(network)
            if case .mayBeJoining = handOver { context.status.emit(.deferred(LostBoard.sentence)) }
            return handOver
        }
        return try await context.perform(.connect) { () async throws(StepFailure) in
            try await wifi.connect(handOver, to: network)
        }
    }

    /// What follows once the board belongs to the user, where it is to, and has its network.
    private func finish(
        _ board: IdentifiedBoard, _ connection: Connection?, _ account: SignedIn?, mapping: MappingConversation?
    ) async throws(OnboardingError) -> OnboardedNode {
        let confirmation = mapping.map { self.confirmation(of: $0, account) }
        if let confirmation {
            try await context.perform(.confirm) { () async throws(StepFailure) in
                try await confirmation.confirm(board, connection)
                await endAssociation()
            }
        }
        let name = mapping?.progress.node ?? board.claimedNode ?? board.identity.nodeID
        // It is on its network, and is not asked again before it has restarted.
        if connection?.network != nil, let name, let account { await memory(account).remove(name) }
        return OnboardedNode(
            nodeID: name, network: connection?.network, mapping: mapping == nil ? .skipped : .confirmed,
            claimed: board.claimedNode != nil, identity: board.identity, customData: context.status.answers,
            elapsed: context.status.elapsed)
    }

    /// The board is in the account: where it goes on answering challenges, that is worth a word and no more.
    private func endAssociation() async {
        do throws(ProvisioningError) {
            try await context.board.endAssociation()
        } catch {
            context.tell(.associationLeftOpen(error.message))
        }
    }

    private func ask(
        _ step: OnboardingStep, _ question: @Sendable (any Board) async throws(ProvisioningError) -> Void
    ) async throws(OnboardingError) {
        try await context.perform(step) { () async throws(StepFailure) in try await context.ask(question) }
    }
}

/// Finds the board, or finds out that an earlier run has finished with it.
struct BoardIdentification: Sendable {
    enum Result {
        case found(IdentifiedBoard)
        case finishedEarlier(NodeID)
    }

    let context: RunContext
    let account: SignedIn?

    func find(_ leftOvers: LeftOversHere) async throws(StepFailure) -> Result {
        var here = leftOvers
        var schedule = PollSchedule.unreachable
        let began = context.time.elapsed()
        var hasTold = false
        while true {
            let absence: ProvisioningError
            switch await identity() {
            case .success(let identity): return .found(try check(identity, here))
            case .failure(let error) where error.isAbsence: absence = error
            case .failure(let error): throw StepFailure(error)
            }
            if let account,
                let node = try await LeftOverReview(context: context, account: account).finishedWithoutBoard(&here)
            {
                return .finishedEarlier(node)
            }
            let mayStillReport =
                (here.unconfirmed != nil || here.unseen != nil) && context.time.elapsed() - began < Patience.lostBoard
            guard context.request.waitsForBoard || mayStillReport else { throw StepFailure(absence) }
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

    private func check(_ identity: BoardIdentity, _ here: LeftOversHere) throws(StepFailure) -> IdentifiedBoard {
        context.status.update { position in
            position.boardName = identity.nodeID
            // A board has answered: what was left is not what errors speak of any longer.
            position.hasLeftOver = false
        }
        context.tell(.identified(identity))
        if let account, account.cloud.claiming == nil, identity.needsClaim == true {
            throw StepFailure(
                .claimNeeded,
                message:
                    "The board has no cloud certificate yet, and this deployment has no claim service that "
                    + "could give it one.")
        }
        if context.request.claimsOnly, identity.needsClaim == nil {
            throw .claimUnknown(identity.nodeID)
        }
        return IdentifiedBoard(identity: identity, leftOver: here.unconfirmed(for: identity.nodeID))
    }
}

extension ProvisioningError {
    /// Nothing answers at all, as opposed to a board that stopped answering, and to something else at the board's address.
    fileprivate var isAbsence: Bool {
        (code == .unavailable || code == .neverAnswered) && reason != "not_a_board"
    }
}

/// A board that has answered.
struct IdentifiedBoard: Sendable {
    var identity: BoardIdentity
    /// What an earlier run left, where it may be of this very board.
    var leftOver: LeftOver?
    /// What the board has been called since this run claimed it.
    var claimedNode: NodeID?
}
