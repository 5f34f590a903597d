// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainIO

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
