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
            case .told(let seconds): "when it is printed, after \(seconds.formatted) s"
            }
        }
    }

    static let all =
        ofBoards + ofAddresses + ofCodes + ofFiles + ofSettings + ofArguments + ofAccounts + ofServers + ofStores
        + ofProviders + ofNodes + ofContents

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

extension InjectedFault {
    /// A command that cannot be right wherever it runs. `{}` is the maker's folder, in which the files are.
    static func command(
        _ area: String, _ name: String, _ words: String, known evidence: Evidence = .start, cloud: Bool = false,
        files: [String: String] = [:], environment: [String: String] = [:], _ arguments: [String]
    ) -> InjectedFault {
        InjectedFault(area, name, words, known: evidence, cloud: cloud) { lab in
            for (path, text) in files {
                if path.contains("/") { try lab.folder.makeFolder(String(path[..<path.lastIndex(of: "/")!])) }
                lab.folder.writePrivately(Array(text.utf8), to: path)
            }
            let place = { (text: String) in text.replacing("{}", with: lab.folder.path) }
            return try await lab.timed(arguments.map(place), environment: environment.mapValues(place))
        }
    }

    /// `provision` for the Wi-Fi alone; `wifi` and `proof` are left out where the row has its own.
    static func provision(
        _ area: String, _ name: String, _ words: String, known evidence: Evidence = .start,
        files: [String: String] = [:],
        wifi: Bool = true, proof: Bool = true, _ arguments: String...
    ) -> InjectedFault {
        command(
            area, name, words, known: evidence, files: files,
            ["provision", "--no-mapping"] + (wifi ? ["--ssid", "Home", "--passphrase-file", "{}/wifi"] : [])
                + (proof ? ["--pop-file", "{}/pop"] : []) + arguments)
    }
}

extension Double {
    fileprivate var formatted: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
