// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker

/// What every step is handed: whom to ask, the clocks, and where to tell what happens.
struct RunContext: Sendable {
    let board: any Board
    let request: OnboardingRequest
    let time: Timekeeper
    let clock: any WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    let logger: Logger
    let status: RunStatus
    let quiet = QuietPeriod()

    /// Takes one step, and says when it begins and how it ends.
    func perform<Learned>(
        _ step: OnboardingStep, _ body: () async throws(StepFailure) -> Learned
    ) async throws(OnboardingError) -> Learned {
        status.begin(step)
        do throws(StepFailure) {
            guard !Task.isCancelled else { throw .cancelled }
            let learned = try await body()
            status.finish()
            return learned
        } catch {
            let error = status.error(error)
            // Whether somebody cancelled, or the time was over, is known only outside.
            if case .cancelled = error.cause { throw error }
            status.emit(.failed(error))
            throw error
        }
    }

    func ask<Answer: Sendable>(
        _ question: @Sendable (any Board) async throws(ProvisioningError) -> Answer
    ) async throws(StepFailure) -> Answer {
        do throws(ProvisioningError) {
            return try await question(board)
        } catch {
            throw StepFailure(error)
        }
    }

    func pause(_ duration: Duration) async throws(StepFailure) {
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

/// How long a run goes on without the cloud, or without the board, once everything else is done.
enum Patience {
    /// A computer that leaves a board's access point needs about this long to be back on its own network.
    static let cloudOutage = Duration.seconds(30)
    /// The claim service is asked again for this long; the board waits meanwhile.
    static let claimOutage = Duration.seconds(5)
    /// A board that left for its network reports to the cloud within seconds of the moment from which the cloud can say so, or not at
    /// all.
    static let lostBoard = Duration.seconds(20)
    /// A board that is on its network reports to its cloud within seconds; Espressif's own client gives up after a minute.
    static let report = Duration.seconds(60)
    /// A board that says nothing of its Wi-Fi may have reported to the cloud, which is asked this often.
    static let betweenCloudChecks = Duration.seconds(2)
    /// How long a board that could not join is asked what it hears of the network. A scan takes firmware up to 5 s.
    static let explanation = Duration.seconds(8)
    /// Once the cloud has confirmed it, a board is on its network, and has this long to say so itself.
    static let boardAfterCloud = Duration.seconds(3)
    /// A board whose network has no internet yet may come to the cloud days later. In seconds of civil time.
    static let absentBoard = 7.0 * 24 * 3600
    /// What the cloud has just heard of an earlier run's board takes it a moment to confirm. For all of them together.
    static let leftOvers = Duration.seconds(2)
    /// How long the cloud is asked about earlier runs' boards before the one at hand has its turn; later runs ask about the others.
    static let leftOverCalls = Duration.seconds(10)
    /// How long a challenge stays good. Clients of this service ask for six minutes.
    static let challengeLifetime = Duration.seconds(360)
}
