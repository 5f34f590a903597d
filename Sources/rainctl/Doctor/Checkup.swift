// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainKit

/// Looks at everything on this machine that boards and accounts need, all at once, and changes nothing.
struct Checkup: Sendable {
    let context: Context
    /// No check may take longer; what has not answered by then is what is wrong.
    let limit: Duration
    /// What of the settings cannot be used, and other commands end at.
    let obstacles: [Obstacle]

    struct Obstacle: Sendable {
        /// The file of settings; nil where there is no home.
        let path: String?
        let message: String
    }

    /// For one answer from elsewhere. There is time left then to say who was silent.
    var answerLimit: Duration { limit * 5 / 6 }

    /// Asked anew in each run, as a repair may have changed it.
    var home: HomeFolder { HomeFolder(context.environment) }

    var lacksHome: Bool { obstacles.contains { $0.path == nil } }

    private typealias Check = @Sendable (Checkup) async -> [Finding]

    private static let checks: [(name: String, run: Check)] = [
        ("files", { $0.files() }), ("profile", { $0.profile() }), ("session", { await $0.session() }),
        ("cloud", { await $0.cloud() }), ("ports", { await $0.ports() }), ("bluetooth", { await $0.bluetooth() }),
        ("wifi", { await $0.wifi() }), ("network", { await $0.onNetwork() }), ("qr", { $0.qrLibraries() }),
    ]

    /// The findings in the order of the checks.
    func run() async -> [Finding] {
        // Before the others take descriptors and threads, which it looks for.
        let environment = environment()
        let others = await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in Self.checks.enumerated() {
                group.addTask { (index, await findings(of: check.name, check.run)) }
            }
            var all = [[Finding]](repeating: [], count: Self.checks.count)
            for await (index, findings) in group { all[index] = findings }
            return all.flatMap { $0 }
        }
        // A scan of ours is none of another program's in the next look.
        await context.boardClient().close()
        let isCloudTroubled = others.contains { $0.check == "cloud" && $0.state != .ok }
        return environment + others.map { isCloudTroubled ? $0.blamedOnCloud : $0 }
    }

    /// What a check that was cancelled has found is only that.
    private func findings(of name: String, _ check: @escaping Check) async -> [Finding] {
        let outcome = await answer(within: limit) { () async throws(CancellationError) in
            let findings = await check(self)
            if Task.isCancelled { throw CancellationError() }
            return findings
        }
        switch outcome {
        case .success(let findings)?: return findings
        case .failure?: return []
        case nil:
            let time = DurationArgument(limit).defaultValueDescription
            return [.warn(name, "no_answer", "There was no answer within \(time).")]
        }
    }

    /// Nil where there is none in time.
    func answer<Answer: Sendable, Failure: Error>(
        within limit: Duration, _ question: @escaping @Sendable () async throws(Failure) -> Answer
    ) async -> Result<Answer, Failure>? {
        await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }, question)
    }
}
