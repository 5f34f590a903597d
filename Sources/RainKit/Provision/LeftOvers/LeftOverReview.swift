// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

/// Goes through what earlier runs left for this user. What the cloud refuses for good is given up; what it cannot be asked now stays for the
/// next run. What other runs are at work on is theirs: a workshop has several under way.
///
/// The cloud is asked once about each: the board at hand does not wait for others that never come online. One that was reached in
/// the same way may be that very board: it is waited for where nobody answers (``finishedWithoutBoard(_:)``), and told the same
/// secret again where somebody does.
struct LeftOverReview: Sendable {
    let context: RunContext
    let account: SignedIn

    func finishAll() async throws(StepFailure) -> LeftOversHere {
        var here = LeftOversHere()
        let newestFirst = try await left().reversed()
        let began = context.time.elapsed()
        // First of all those that may be the board at hand.
        for mapping in newestFirst.filter(isHere) + newestFirst.filter({ !isHere($0) }) {
            guard context.time.elapsed() - began < Patience.leftOverCalls else { break }
            guard let leftOver = try await take(mapping) else { continue }
            let outcome = try await run(leftOver).finish(until: began + Patience.leftOvers)
            await note(outcome, of: leftOver.mapping, in: &here)
            if case .unreachable(_, let error) = outcome {
                context.status.emit(.deferred(error.message))
                break
            }
        }
        return here
    }

    /// Whether the board that nobody finds is gone because an earlier run did its work: asks the cloud, once, about what that run left. A
    /// cloud that cannot be reached ends nothing: the computer may be on its way to the board's own access point.
    func finishedWithoutBoard(_ here: inout LeftOversHere) async throws(StepFailure) -> NodeID? {
        if var unseen = here.unseen {
            if await isOnline(&unseen) { here.seen(unseen.node) } else { here.add(unseen: unseen) }
        }
        guard here.unconfirmed != nil else { return here.finishedNode }
        guard context.time.elapsed() >= context.quiet.until, let leftOver = here.takeUnconfirmed() else { return nil }
        let outcome = try await run(leftOver).finish(until: .zero)
        await note(outcome, of: leftOver.mapping, in: &here)
        return here.unconfirmed == nil ? here.finishedNode : nil
    }

    private func run(_ leftOver: LeftOver) -> LeftOverRun {
        LeftOverRun(leftOver, cloud: account.cloud, context: context)
    }

    private func note(
        _ outcome: LeftOverRun.Outcome, of mapping: PendingMapping, in here: inout LeftOversHere
    ) async {
        if isHere(mapping) {
            switch outcome {
            case .confirmed:
                var node = UnseenNode(mapping, now: context.clock.now, elapsed: context.time.elapsed())
                if await hasReported(mapping, &node) { here.add(finished: node.node) } else { here.add(unseen: node) }
            case .abandoned: break
            case .waiting(let rest), .unreachable(let rest, _): here.add(unconfirmed: rest)
            }
        }
        let isLeft = here.unconfirmed != nil
        context.status.update { $0.hasLeftOver = isLeft }
    }

    /// Whether the board of a confirmed mapping got onto its network. A signature does not say so.
    private func hasReported(_ mapping: PendingMapping, _ node: inout UnseenNode) async -> Bool {
        let isReported = if case .secret = mapping.proof { account.cloud.mapping.confirmsReports } else { false }
        if isReported || mapping.stage == .online { return true }
        return await isOnline(&node)
    }

    private func isOnline(_ node: inout UnseenNode) async -> Bool {
        guard let said = try? await account.cloud.mapping.connectivity(of: node.node) else { return false }
        return node.presence.isOnline(said, at: context.time.elapsed())
    }

    /// Whether it may be about the board at hand: many boards are reached through one port or address, so their labels count as well.
    private func isHere(_ mapping: PendingMapping) -> Bool {
        mapping.peer == context.board.peer && mapping.label == context.request.label
    }

    private func left() async throws(StepFailure) -> [PendingMapping] {
        do throws(RecordStoreError) {
            return try await account.cloud.pending.all().filter { $0.user == account.user }
        } catch {
            throw StepFailure(error)
        }
    }

    /// A mapping that nobody is at work on, as it is now; nil where there is none, or nothing that a cloud could confirm.
    private func take(_ mapping: PendingMapping) async throws(StepFailure) -> LeftOver? {
        let store = account.cloud.pending
        do throws(RecordStoreError) {
            guard let hold = try await store.hold(node: mapping.node) else { return nil }
            // The run that had it may have ended since.
            guard
                let now = try await store.all().first(where: { $0.node == mapping.node && $0.user == mapping.user })
            else { return nil }
            guard now.stage == .associated else { return LeftOver(mapping: now, hold: hold) }
            try await store.remove(node: now.node)
            return withExtendedLifetime(hold) { nil }
        } catch {
            throw StepFailure(error)
        }
    }
}

/// What earlier runs left, as far as it may be about the board at hand.
struct LeftOversHere: Sendable {
    /// The newest that the cloud has not confirmed yet.
    private(set) var unconfirmed: LeftOver?
    /// The board at hand, where an earlier run had finished with it but for the cloud.
    private(set) var finishedNode: NodeID?

    mutating func add(unconfirmed leftOver: LeftOver) {
        if unconfirmed == nil { unconfirmed = leftOver }
    }

    /// Confirmed by its signature alone, and not seen on its network yet.
    private(set) var unseen: UnseenNode?

    mutating func add(unseen node: UnseenNode) {
        if unconfirmed == nil, finishedNode == nil { unseen = node }
    }

    /// The cloud has seen it.
    mutating func seen(_ node: NodeID) {
        unseen = nil
        add(finished: node)
    }

    /// Of several that were left here the last one decides.
    mutating func add(finished node: NodeID) {
        if unconfirmed == nil, finishedNode == nil { finishedNode = node }
    }

    mutating func takeUnconfirmed() -> LeftOver? {
        defer { unconfirmed = nil }
        return unconfirmed
    }

    /// The one that a board may be about which answers: one that says its name at once says as well whether it is that one.
    func unconfirmed(for node: NodeID?) -> LeftOver? {
        node == nil || node == unconfirmed?.mapping.node ? unconfirmed : nil
    }
}

/// Finishes at the cloud what one earlier run left. A run of its own: it knows nothing of the board at hand.
struct LeftOverRun: Sendable {
    enum Outcome {
        case confirmed
        /// The cloud has refused it for good.
        case abandoned
        /// The cloud has not heard of the board yet.
        case waiting(LeftOver)
        case unreachable(LeftOver, AccountError)
    }

    private let context: RunContext
    private let leftOver: LeftOver
    private let conversation: MappingConversation

    init(_ leftOver: LeftOver, cloud: Onboarder.Cloud, context: RunContext) {
        self.context = context
        self.leftOver = leftOver
        conversation = context.conversation(about: leftOver.mapping, hold: leftOver.hold, with: cloud)
    }

    /// Asks the cloud once, and until `end` where it has only just been told.
    func finish(until end: Duration) async throws(StepFailure) -> Outcome {
        context.status.update { $0.mapping = conversation }
        defer { context.status.update { $0.mapping = nil } }
        do throws(StepFailure) {
            return try await ask(until: end)
        } catch {
            if conversation.leftOver != nil { context.status.update { $0.hasLeftOver = true } }
            throw error
        }
    }

    private func ask(until end: Duration) async throws(StepFailure) -> Outcome {
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
                guard error.isRefusal else { throw StepFailure(error.thatMayBeGivenUp) }
                try await conversation.settle(confirmed: false)
                context.tell(.abandoned(leftOver.mapping.node, error.message))
                return .abandoned
            }
            // Only what the cloud has just been told is worth waiting for.
            guard rest.mapping.proof != leftOver.mapping.proof, context.time.elapsed() < end else {
                return .waiting(rest)
            }
            try await context.pause(schedule.next())
        }
    }

    private var rest: LeftOver { conversation.leftOver ?? leftOver }
}

extension AccountError {
    /// Adds the remedy of giving up the left-over, which otherwise stops every run. Errors that a new sign-in fixes stay as they are.
    fileprivate var thatMayBeGivenUp: AccountError {
        guard ![.expired, .notSignedIn, .notRenewable, .insufficientScope, .cancelled].contains(code) else {
            return self
        }
        var error = self
        error.remedies.append(.forgottenPending)
        return error
    }
}

/// A mapping that an earlier run could not finish, held for this one.
struct LeftOver: Sendable {
    var mapping: PendingMapping
    var hold: PendingMappingHold?
}

/// A node that is in the account by an earlier run, and that the cloud has not seen since.
struct UnseenNode: Sendable {
    let node: NodeID
    var presence: NodePresence

    /// - Parameter elapsed: the run's own clock, which `now` is the civil time of.
    init(_ mapping: PendingMapping, now: UnixTime, elapsed: Duration) {
        node = mapping.node
        let age = now.seconds - (mapping.since ?? now).seconds
        presence = NodePresence(toldToJoin: elapsed - .seconds(max(age, 0)))
    }
}
