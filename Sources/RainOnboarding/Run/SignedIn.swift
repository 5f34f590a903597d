// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

/// The account that a run works for: the cloud, and who is signed in there.
struct SignedIn: Sendable {
    let cloud: Onboarder.Cloud
    let user: UserID
    /// Where it was fetched before the board is touched.
    var challenge: MappingChallenge?

    init(_ cloud: Onboarder.Cloud) async throws(StepFailure) {
        self.cloud = cloud
        do throws(AccountError) {
            user = try await cloud.user()
        } catch {
            throw StepFailure(error)
        }
    }

    /// Before it is known whether the board signs challenges: nil where the cloud has none, which other boards do without.
    func earlyChallenge() async throws(StepFailure) -> MappingChallenge? {
        do throws(StepFailure) {
            return try await fetchChallenge()
        } catch {
            guard case .account(let cause) = error.cause, cause.code == .unsupported else { throw error }
            return nil
        }
    }

    func fetchChallenge() async throws(StepFailure) -> MappingChallenge {
        do throws(AccountError) {
            return try await cloud.mapping.initiateChallenge(lifetime: Patience.challengeLifetime)
        } catch {
            throw StepFailure(error)
        }
    }
}
