// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainMaker

extension MappingConversation {
    enum Answer: Sendable {
        /// Nothing is left to do.
        case confirmed
        case notYet
        /// The cloud calls the mapping by a word that is not known, so it does not count as decided.
        case unknown(String)
        /// The cloud gave the request up; only a new one can succeed.
        case ended(MappingStatus)
    }

    /// The user's half of a mapping, sent while the board is still joining. One try: whoever confirms it has the patience.
    ///
    /// - Parameter isOffline: whether this machine has no way to the cloud; then nothing is tried.
    func announce(isOffline: Bool) async {
        guard !isOffline else { return update { $0.hasAnnounced = true } }
        do throws(AccountError) {
            try await tell()
        } catch {
            logger.debug("the mapping will be announced again", metadata: ["cause": "\(error.code)"])
        }
        update { $0.hasAnnounced = true }
    }

    /// Sends the part of the mapping that the cloud does not have yet; nothing where it has everything.
    func tell() async throws(AccountError) {
        guard let mapping = progress.pending else { return }
        switch mapping.proof {
        case .secret(let secret, request: nil):
            let request = try await cloud.addMapping(node: mapping.node, secret: secret, notes: mapping.notes)
            let now = time.elapsed()
            update { $0.announced(secret, as: request, at: now) }
            try await storing { () throws(StepFailure) in try await keep() }
        case .secret: return
        case .signature(let signature, let request):
            try await cloud.verifyChallenge(request, node: mapping.node, signature: signature, notes: mapping.notes)
            try await storing { () throws(StepFailure) in try await settle(confirmed: true) }
        }
    }

    /// Tells the cloud what it has not heard yet, then asks.
    func ask() async throws(AccountError) -> Answer {
        do throws(AccountError) {
            try await tell()
            let answer = try await answer()
            if case .confirmed = answer {
                try await storing { () throws(StepFailure) in try await settle(confirmed: true) }
            }
            return answer
        } catch {
            if let rest = error.retryAfter { quiet.set(until: time.elapsed() + rest) }
            throw error
        }
    }

    /// What the cloud says of the node's connection; nil where it cannot say.
    func connectivity() async throws(AccountError) -> Node.Connectivity? {
        guard let node = progress.node else { return nil }
        do throws(AccountError) {
            return try await cloud.connectivity(of: node)
        } catch {
            if let rest = error.retryAfter { quiet.set(until: time.elapsed() + rest) }
            throw error
        }
    }

    private func answer() async throws(AccountError) -> Answer {
        let progress = progress
        guard let request = progress.request else { return progress.isConfirmed ? .confirmed : .notYet }
        let status = try await cloud.mappingStatus(request)
        switch status {
        case .confirmed: return .confirmed
        case .requested: return .notYet
        case .other(let word): return .unknown(word)
        case .discarded: return .ended(status)
        case .timedOut:
            let now = clock.now
            guard update({ $0.timedOut(at: now) }) else { return .ended(status) }
            try await tell()
            return .notYet
        }
    }

    /// An authoritative no: nothing to keep, unless it is the session that ended and signing in again will do.
    func failure(_ error: AccountError) async throws(StepFailure) -> StepFailure {
        if error.isRefusal { try await settle(confirmed: false) }
        return StepFailure(error)
    }

    /// A store that fails in the middle of a cloud call is reported as the account's failure to keep something.
    private func storing(_ body: () async throws(StepFailure) -> Void) async throws(AccountError) {
        do throws(StepFailure) {
            try await body()
        } catch {
            throw AccountError(.cannotStore, message: error.message)
        }
    }
}

extension MappingStatus {
    /// What to say where the cloud has ended a mapping with this status.
    var endedMessage: String {
        let why =
            self == .timedOut
            ? "the board has not reported for a week" : "the board reported another user or secret"
        return "The cloud did not confirm the mapping: \(why). Run the command again."
    }
}
