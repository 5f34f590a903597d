// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

/// The account that a run works for: the cloud, and who is signed in there.
struct SignedIn: Sendable {
    let cloud: Onboarder.Cloud
    let user: UserID
    /// What came of fetching a challenge before the board was touched; nil where that was not tried.
    private var early: Result<MappingChallenge, AccountError>?

    init(_ cloud: Onboarder.Cloud) async throws(StepFailure) {
        self.cloud = cloud
        do throws(AccountError) {
            user = try await cloud.user()
        } catch {
            throw StepFailure(error)
        }
    }

    /// The challenge that is there before the board is asked anything.
    var challenge: MappingChallenge? { try? early?.get() }

    /// Fetches a challenge before it is known whether the board signs any.
    ///
    /// Most boards that are reached over their own access point sign none, and a private deployment may refuse `mapping/initiate`: what
    /// goes wrong here matters only to a board that needs it (``requireChallenge()``). A session that has ended matters to every board.
    mutating func fetchChallengeEarly() async throws(StepFailure) {
        do throws(AccountError) {
            early = .success(try await fetchChallenge())
        } catch {
            guard !error.endsSession else { throw StepFailure(error) }
            early = .failure(error)
        }
    }

    /// The challenge for a board that signs one.
    ///
    /// A cloud that was down is asked once more. Where that fails too, the first answer is told: the computer may have left the internet
    /// for the board's access point since.
    func requireChallenge() async throws(StepFailure) -> MappingChallenge {
        do throws(AccountError) {
            switch early {
            case .success(let challenge)?: return challenge
            case .failure(let error)? where !error.isTransient: throw error
            case .failure, nil: return try await fetchChallenge()
            }
        } catch {
            guard case .failure(let first)? = early, error.isTransient else {
                throw .noChallenge(error)
            }
            throw .noChallenge(first)
        }
    }

    private func fetchChallenge() async throws(AccountError) -> MappingChallenge {
        try await cloud.mapping.initiateChallenge(lifetime: Patience.challengeLifetime)
    }
}

extension AccountError {
    /// Whether nothing at all can be done at the cloud any more.
    fileprivate var endsSession: Bool { [.expired, .notSignedIn, .notRenewable, .cancelled].contains(code) }
}

extension StepFailure {
    fileprivate static func noChallenge(_ error: AccountError) -> StepFailure {
        var error = error
        error.message = "the board has to sign a challenge of the cloud, which gave none: \(error.message)"
        return StepFailure(error)
    }
}
