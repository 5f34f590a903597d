// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker

/// What every step gets: the board, the request, the clocks, and the status that reports events.
struct RunContext: Sendable {
    let board: any Board
    let request: OnboardingRequest
    let time: Timekeeper
    let clock: any WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    let logger: Logger
    let status: RunStatus
    let quiet = QuietPeriod()

    /// Runs one step, and reports its beginning and its end.
    func perform<Learned>(
        _ step: OnboardingStep, _ body: () async throws(RainKitError) -> Learned
    ) async throws(RainKitError) -> Learned {
        status.begin(step)
        do throws(RainKitError) {
            guard !Task.isCancelled else { throw .cancelled }
            let learned = try await body()
            status.finish()
            return learned
        } catch {
            let unfinished = error.unfinished ?? error.silentHost.map { "\($0) has not answered" }
            if let unfinished { status.update { $0.unfinished = unfinished } }
            let error = status.error(error)
            // Only the caller knows whether somebody cancelled or the time was over.
            if case .cancelled = error.cause { throw error }
            status.emit(.failed(error))
            throw error
        }
    }

    func ask<Answer: Sendable>(
        _ question: @Sendable (any Board) async throws(ProvisioningError) -> Answer
    ) async throws(RainKitError) -> Answer {
        do throws(ProvisioningError) {
            return try await question(board)
        } catch {
            throw RainKitError(error)
        }
    }

    func pause(_ duration: Duration) async throws(RainKitError) {
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

/// The account that a run works for: the cloud, and its signed-in user.
struct SignedIn: Sendable {
    let cloud: Onboarder.Cloud
    let user: UserID
    /// The result of fetching a challenge before the board was contacted; nil if that was not tried.
    private var early: Result<MappingChallenge, AccountError>?

    init(_ cloud: Onboarder.Cloud) async throws(RainKitError) {
        self.cloud = cloud
        do throws(AccountError) {
            user = try await cloud.user()
        } catch {
            throw RainKitError(error)
        }
    }

    /// The challenge that was fetched before the board was asked anything.
    var challenge: MappingChallenge? { try? early?.get() }

    /// Fetches a challenge before it is known whether the board signs one.
    ///
    /// Most boards that are reached over their own access point sign none, and a private deployment may refuse `mapping/initiate`. A
    /// failure here therefore matters only to a board that needs the challenge (``requireChallenge()``). A session that has ended matters
    /// to every board.
    mutating func fetchChallengeEarly() async throws(RainKitError) {
        do throws(AccountError) {
            early = .success(try await fetchChallenge())
        } catch {
            guard !error.endsSession else { throw RainKitError(error) }
            early = .failure(error)
        }
    }

    /// Returns the challenge for a board that signs one.
    ///
    /// Asks a cloud that was down once more. If that fails too, it throws the first error: the computer may have left the internet for the
    /// board's access point since.
    func requireChallenge() async throws(RainKitError) -> MappingChallenge {
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
        try await cloud.mapping.initiateChallenge(lifetime: WaitLimits.challengeLifetime)
    }
}

extension AccountError {
    /// Whether no request to the cloud can succeed any more.
    fileprivate var endsSession: Bool { [.expired, .notSignedIn, .notRenewable, .cancelled].contains(code) }
}

extension RainKitError {
    fileprivate static func noChallenge(_ error: AccountError) -> RainKitError {
        var error = error
        error.message = "the cloud did not send the challenge that the board has to sign: \(error.message)"
        return RainKitError(error)
    }
}

/// How long a run waits for the cloud or the board, once everything else is done.
enum WaitLimits {
    /// A computer that leaves a board's access point needs about this long to return to its own network.
    static let cloudOutage = Duration.seconds(30)
    /// The claim service is asked again for this long; the board waits meanwhile.
    static let claimOutage = Duration.seconds(5)
    /// A board that has joined its network reports to the cloud within seconds, or never. The time runs from the moment at which the cloud
    /// can show it.
    static let lostBoard = Duration.seconds(20)
    /// A board that is on its network reports to its cloud within seconds. Espressif's own client gives up after a minute.
    static let report = Duration.seconds(60)
    /// A board that reports nothing about its Wi-Fi may have reported to the cloud. The cloud is asked this often.
    static let betweenCloudChecks = Duration.seconds(2)
    /// How long a board that could not join is asked how it hears the network. A scan takes firmware up to 5 s.
    static let explanation = Duration.seconds(8)
    /// Once the cloud has confirmed a board, the board is on its network, and has this long to report it itself.
    static let boardAfterCloud = Duration.seconds(3)
    /// A board whose network has no internet yet may come to the cloud days later. In seconds of civil time.
    static let absentBoard = 7.0 * 24 * 3600
    /// The cloud needs a moment to confirm what it has just received about a board of an earlier run. For all such boards together.
    static let leftOvers = Duration.seconds(2)
    /// How long the cloud is asked about boards of earlier runs before this run's own board. Later runs ask about the others.
    static let leftOverCalls = Duration.seconds(10)
    /// How long a challenge is valid. Clients of this service ask for six minutes.
    static let challengeLifetime = Duration.seconds(360)
}
