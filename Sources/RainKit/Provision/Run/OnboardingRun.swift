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
