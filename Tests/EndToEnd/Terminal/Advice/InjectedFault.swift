// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// One thing that is wrong, and a run that meets it.
struct InjectedFault: Sendable {
    /// When the run can know of it, at the earliest.
    enum Evidence: Sendable {
        /// From its start on.
        case start
        /// When its time is over, in seconds: nothing comes, and that is the evidence.
        case silence(Double)
        /// When others have said it: so many seconds after the start.
        case told(Double)

        var seconds: Double {
            switch self {
            case .start: 0
            case .silence(let seconds), .told(let seconds): seconds
            }
        }

        var words: String {
            switch self {
            case .start: "at once"
            case .silence(let seconds): "after \(seconds.formatted) s of silence"
            case .told(let seconds): "when it is told, after \(seconds.formatted) s"
            }
        }
    }

    static let all = ofBoards + ofAccounts

    let area: String
    let name: String
    /// Words of the first sentence that name the cause: one of them is enough.
    let words: [String]
    let evidence: Evidence
    let needsCloud: Bool
    let run: @Sendable (FaultLab) async throws -> Maker.Outcome

    init(
        _ area: String, _ name: String, _ words: String..., known evidence: Evidence = .start, cloud: Bool = false,
        run: @escaping @Sendable (FaultLab) async throws -> Maker.Outcome
    ) {
        (self.area, self.name, self.words, self.evidence, needsCloud, self.run) =
            (area, name, words, evidence, cloud, run)
    }
}

extension Double {
    fileprivate var formatted: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
