// SPDX-License-Identifier: Apache-2.0

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
