// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What people read first when something is wrong: the cause, never something else. docs/faults.md is made of this list, and held against it.
@Suite("Advice")
struct FaultAdviceTests {
    struct Row: Sendable, Equatable {
        var area: String
        var name: String
        var exit: Int
        var reason: String
        var sentence: String
        var evidence: String

        var line: String { "| \(area) | \(name) | \(exit) | `\(reason)` | \(sentence) | \(evidence) |" }
    }

    private static let isRecorded = currentEnvironment()["RAINKIT_RECORD"] == "1"
    private static let isTimed = isRecorded || Timings.isAlone

    @Test("the first sentence names the cause, for each fault that is injected")
    func advice() async throws {
        let faults = InjectedFault.all
        #expect(faults.count >= 330)
        let bench = try await FaultBench()
        // One at a time where the time counts.
        let width = Self.isTimed ? 1 : 4
        var rows: [Row] = []
        for start in stride(from: 0, to: faults.count, by: width) {
            let some = Array(faults[start..<min(start + width, faults.count)])
            rows += try await withThrowingTaskGroup(of: (Int, Row).self) { group in
                for (index, fault) in some.enumerated() {
                    group.addTask { (index, try await Self.row(fault, bench)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        var wrong: [String] = []
        for (fault, row) in zip(faults, rows) {
            let words = fault.words.flatMap { $0.split(separator: "|") }.map { $0.lowercased() }
            #expect(row.exit != 0, "\(row.line)")
            if !words.contains(where: { row.sentence.lowercased().contains($0) }) { wrong.append(row.line) }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")

        let path = Repository.path("docs/faults.md")
        let table = rows.map(\.line).joined(separator: "\n") + "\n"
        if Self.isRecorded {
            let stream = try #require(fopen(path, "we"))
            fputs(Self.head + table, stream)
            fclose(stream)
        }
        let page = try readFile(path).split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map(String.init)
        #expect(page == rows.map(\.line))
    }

    private static let head = """
        # Faults and their messages

        In each row one thing is broken, and the first sentence of `rainctl`'s message names it. Look for
        your message here, or for what is wrong at your place. The last sentences of a message, which this
        page leaves out, say what to do; [troubleshooting](troubleshooting.md) has more. `exit` is the
        [exit code](exit-codes.md), and `reason` is the member of the JSON ([reasons](reasons.md)).

        `known` says when the cause can be known, counted from the start of the run. The message appears
        less than a second later.

        | area | what is wrong | exit | reason | first sentence | known |
        |---|---|---|---|---|---|

        """

    private static func row(_ fault: InjectedFault, _ bench: FaultBench) async throws -> Row {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            var cloud: SimulatedCloud?
            if fault.needsCloud {
                cloud = try await SimulatedCloud.start(in: folder)
                try await maker.signIn(to: cloud!)
            }
            let lab = FaultLab(folder: folder, maker: maker, cloud: cloud, bench: bench)
            let outcome = try await fault.run(lab)
            if isTimed {
                #expect(lab.took > .zero, "\(fault.name): not timed")
                #expect(lab.took < .seconds(fault.evidence.seconds + 1), "\(fault.name): said after \(lab.took)")
            }
            let message = outcome.failure?["message"]?.string ?? ""
            return Row(
                area: fault.area, name: fault.name, exit: outcome.status,
                reason: outcome.failure?["reason"]?.string ?? "",
                sentence: Self.shown(Self.firstSentence(message), in: [folder, bench.folder]),
                evidence: fault.evidence.words)
        }
    }

    /// To the first full stop that ends a sentence.
    static func firstSentence(_ text: String) -> String {
        guard let end = text.firstRange(of: ". ") else { return text }
        return String(text[..<end.lowerBound]) + "."
    }

    /// Without what is different each time: folders, ports, names that were made up.
    private static func shown(_ text: String, in folders: [TemporaryFolder]) -> String {
        folders.reduce(text) { $0.replacing($1.path, with: "…") }
            .replacing(/[^ ]*\/rainkit-test-\w+/, with: "…").replacing(
                /(127\.0\.0\.1|localhost):\d+/, with: "HOST"
            )
            .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, with: "TIME")
            .replacing(/port \d+ after \d+ ms/, with: "port N")
            .replacing(/\d+ bytes arrived/, with: "N bytes arrived")
            .replacing(/at most \d+ fit/, with: "at most N fit")
            .replacing(/PROV_[0-9a-f]{6}/, with: "PROV_a1b2c3").replacing("|", with: "\\|")
    }
}
