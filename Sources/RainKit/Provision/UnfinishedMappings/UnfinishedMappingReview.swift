// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

/// Finishes at the cloud what earlier runs left for this user. A mapping that the cloud refuses for good is given up. One that it cannot be
/// asked about now stays for the next run. Mappings that other runs are working on are skipped: a workshop has several runs at a time.
///
/// The cloud is asked once about each mapping, so this run's board does not wait for others that never come online. A mapping whose
/// board was reached in the same way may be about this run's board. If no board answers, the run waits for that mapping
/// (``finishedWithoutBoard(_:)``). If a board answers, it gets the same secret again.
struct UnfinishedMappingReview: Sendable {
    let context: RunContext
    let account: SignedIn

    func finishAll() async throws(RainKitError) -> PossibleMappings {
        var here = PossibleMappings()
        let newestFirst = try await left().reversed()
        let began = context.time.elapsed()
        // First those that may be about this run's board.
        for mapping in newestFirst.filter(isHere) + newestFirst.filter({ !isHere($0) }) {
            guard context.time.elapsed() - began < WaitLimits.leftOverCalls else { break }
            guard let leftOver = try await take(mapping) else { continue }
            let outcome = try await run(leftOver).finish(until: began + WaitLimits.leftOvers)
            await note(outcome, of: leftOver.mapping, in: &here)
            if case .unreachable(_, let error) = outcome {
                context.status.emit(.deferred(error.message))
                break
            }
        }
        return here
    }

    /// Returns the node of a board that does not answer because an earlier run has finished its setup. Asks the cloud once about what that
    /// run left. A cloud that cannot be reached is not an error here: the computer may be on its way to the board's own access point.
    func finishedWithoutBoard(_ here: inout PossibleMappings) async throws(RainKitError) -> NodeID? {
        if var unseen = here.unseen {
            if await isOnline(&unseen) { here.seen(unseen.node) } else { here.add(unseen: unseen) }
        }
        guard here.unconfirmed != nil else { return here.finishedNode }
        guard context.time.elapsed() >= context.quiet.until, let leftOver = here.takeUnconfirmed() else { return nil }
        let outcome = try await run(leftOver).finish(until: .zero)
        await note(outcome, of: leftOver.mapping, in: &here)
        return here.unconfirmed == nil ? here.finishedNode : nil
    }

    private func run(_ leftOver: UnfinishedMapping) -> UnfinishedMappingRun {
        UnfinishedMappingRun(leftOver, cloud: account.cloud, context: context)
    }

    private func note(
        _ outcome: UnfinishedMappingRun.Outcome, of mapping: PendingMapping, in here: inout PossibleMappings
    ) async {
        if isHere(mapping) {
            switch outcome {
            case .confirmed:
                var node = UnconfirmedNode(mapping, now: context.clock.now, elapsed: context.time.elapsed())
                if await hasReported(mapping, &node) { here.add(finished: node.node) } else { here.add(unseen: node) }
            case .abandoned: break
            case .waiting(let rest), .unreachable(let rest, _): here.add(unconfirmed: rest)
            }
        }
        let isLeft = here.unconfirmed != nil
        context.status.update { $0.hasLeftOver = isLeft }
    }

    /// Whether the board of a confirmed mapping got onto its network. A signature alone does not show it.
    private func hasReported(_ mapping: PendingMapping, _ node: inout UnconfirmedNode) async -> Bool {
        let isReported = if case .secret = mapping.proof { account.cloud.mapping.confirmsReports } else { false }
        if isReported || mapping.stage == .online { return true }
        return await isOnline(&node)
    }

    private func isOnline(_ node: inout UnconfirmedNode) async -> Bool {
        guard let said = try? await account.cloud.mapping.connectivity(of: node.node) else { return false }
        return node.presence.isOnline(said, at: context.time.elapsed())
    }

    /// Whether the mapping may be about this run's board. Many boards are reached through one port or address, so the labels are compared
    /// as well.
    private func isHere(_ mapping: PendingMapping) -> Bool {
        mapping.peer == context.peer && mapping.label == context.request.label
    }

    private func left() async throws(RainKitError) -> [PendingMapping] {
        do throws(RecordStoreError) {
            return try await account.cloud.pending.all().filter { $0.user == account.user }
        } catch {
            throw RainKitError(error)
        }
    }

    /// Takes a mapping that no run is working on, in its current state. Returns nil if there is none, or if the cloud could not confirm it.
    private func take(_ mapping: PendingMapping) async throws(RainKitError) -> UnfinishedMapping? {
        let store = account.cloud.pending
        do throws(RecordStoreError) {
            guard let hold = try await store.hold(node: mapping.node) else { return nil }
            // The run that had it may have ended since.
            guard
                let now = try await store.all().first(where: { $0.node == mapping.node && $0.user == mapping.user })
            else { return nil }
            guard now.stage == .associated else { return UnfinishedMapping(mapping: now, hold: hold) }
            try await store.remove(node: now.node)
            return withExtendedLifetime(hold) { nil }
        } catch {
            throw RainKitError(error)
        }
    }
}

/// What earlier runs left, if it may be about this run's board.
struct PossibleMappings: Sendable {
    /// The newest mapping that the cloud has not confirmed yet.
    private(set) var unconfirmed: UnfinishedMapping?
    /// The node of this run's board, if an earlier run finished everything except the cloud's part.
    private(set) var finishedNode: NodeID?

    mutating func add(unconfirmed leftOver: UnfinishedMapping) {
        if unconfirmed == nil { unconfirmed = leftOver }
    }

    /// A node that was confirmed by its signature alone, and that has not been seen on its network yet.
    private(set) var unseen: UnconfirmedNode?

    mutating func add(unseen node: UnconfirmedNode) {
        if unconfirmed == nil, finishedNode == nil { unseen = node }
    }

    /// Notes that the cloud has seen the node.
    mutating func seen(_ node: NodeID) {
        unseen = nil
        add(finished: node)
    }

    /// Of several finished nodes the last one counts.
    mutating func add(finished node: NodeID) {
        if unconfirmed == nil, finishedNode == nil { finishedNode = node }
    }

    mutating func takeUnconfirmed() -> UnfinishedMapping? {
        defer { unconfirmed = nil }
        return unconfirmed
    }

    /// Returns the mapping that may be about a board that answers. If the board reports its name at once, the name
    /// decides.
    func unconfirmed(for node: NodeID?) -> UnfinishedMapping? {
        node == nil || node == unconfirmed?.mapping.node ? unconfirmed : nil
    }
}

/// Finishes at the cloud what one earlier run left. It knows nothing about this run's board.
struct UnfinishedMappingRun: Sendable {
    enum Outcome {
        case confirmed
        /// The cloud has refused it for good.
        case abandoned
        /// The cloud has not heard of the board yet.
        case waiting(UnfinishedMapping)
        case unreachable(UnfinishedMapping, AccountError)
    }

    private let context: RunContext
    private let leftOver: UnfinishedMapping
    private let conversation: MappingConversation

    init(_ leftOver: UnfinishedMapping, cloud: Onboarder.Cloud, context: RunContext) {
        self.context = context
        self.leftOver = leftOver
        conversation = context.conversation(about: leftOver.mapping, hold: leftOver.hold, with: cloud)
    }

    /// Asks the cloud once, or until `end` if it has only just received the mapping.
    func finish(until end: Duration) async throws(RainKitError) -> Outcome {
        context.status.update { $0.mapping = conversation }
        defer { context.status.update { $0.mapping = nil } }
        do throws(RainKitError) {
            return try await ask(until: end)
        } catch {
            if conversation.leftOver != nil { context.status.update { $0.hasLeftOver = true } }
            throw error
        }
    }

    private func ask(until end: Duration) async throws(RainKitError) -> Outcome {
        var schedule = PollSchedule.cloudStatus
        while true {
            do throws(AccountError) {
                switch try await conversation.ask() {
                case .confirmed:
                    context.tell(.resumed(leftOver.mapping.node))
                    return .confirmed
                case .notYet, .unknown: break
                case .ended(let status): throw AccountError(.rejected, message: status.endedMessage)
                }
            } catch {
                // An error from a proxy or gateway decides nothing.
                if error.isTransient || error.isFromGateway { return .unreachable(rest, error) }
                guard error.isRefusal else { throw RainKitError(error.thatMayBeGivenUp) }
                try await conversation.settle(confirmed: false)
                context.tell(.abandoned(leftOver.mapping.node, error.message))
                return .abandoned
            }
            // It waits only for a mapping that the cloud has just received.
            guard rest.mapping.proof != leftOver.mapping.proof, context.time.elapsed() < end else {
                return .waiting(rest)
            }
            try await context.pause(schedule.next())
        }
    }

    private var rest: UnfinishedMapping { conversation.leftOver ?? leftOver }
}

extension AccountError {
    /// Adds the remedy to give the mapping up, since the mapping otherwise stops every run. Errors that a new sign-in fixes stay as they are.
    fileprivate var thatMayBeGivenUp: AccountError {
        guard ![.expired, .notSignedIn, .notRenewable, .insufficientScope, .cancelled].contains(code) else {
            return self
        }
        var error = self
        error.remedies.append(.forgottenPending)
        return error
    }
}

/// A mapping that an earlier run could not finish, reserved for this run.
struct UnfinishedMapping: Sendable {
    var mapping: PendingMapping
    var hold: PendingMappingHold?
}

/// A node that an earlier run put into the account, and that the cloud has not seen since.
struct UnconfirmedNode: Sendable {
    let node: NodeID
    var presence: NodePresence

    /// - Parameter elapsed: the run's own clock at the civil time `now`.
    init(_ mapping: PendingMapping, now: UnixTime, elapsed: Duration) {
        node = mapping.node
        let age = now.seconds - (mapping.since ?? now).seconds
        presence = NodePresence(toldToJoin: elapsed - .seconds(max(age, 0)))
    }
}
