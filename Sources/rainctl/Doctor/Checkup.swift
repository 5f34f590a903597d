// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainWaiting

/// Looks at everything on this machine that boards and accounts need, all at once, and changes nothing.
struct Checkup: Sendable {
    let context: Context

    /// No check may take longer; what has not answered by then is what is wrong.
    static let limit = Duration.seconds(6)

    private typealias Check = @Sendable (Checkup) async -> [Finding]

    private static let checks: [(name: String, run: Check)] = [
        ("environment", { $0.environment() }), ("files", { $0.files() }), ("profile", { $0.profile() }),
        ("session", { await $0.session() }), ("cloud", { await $0.cloud() }), ("ports", { await $0.ports() }),
        ("bluetooth", { await $0.bluetooth() }), ("wifi", { await $0.wifi() }), ("network", { await $0.onNetwork() }),
        ("qr", { $0.qrLibraries() }),
    ]

    /// The findings in the order of the checks.
    func run() async -> [Finding] {
        await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, check) in Self.checks.enumerated() {
                group.addTask {
                    let outcome = await withDeadline(Self.limit, sleep: { try await Task.sleep(for: $0) }) {
                        () async throws(Never) in await check.run(self)
                    }
                    guard case .success(let findings) = outcome else {
                        return (
                            index,
                            [.warn(check.name, "no_answer", "There was no answer within \(Self.limit.wholeSeconds) s.")]
                        )
                    }
                    return (index, findings)
                }
            }
            var all = [[Finding]](repeating: [], count: Self.checks.count)
            for await (index, findings) in group { all[index] = findings }
            return all.flatMap { $0 }
        }
    }
}
