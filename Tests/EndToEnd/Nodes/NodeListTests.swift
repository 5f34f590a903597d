// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization
import TestSupport
import Testing

@Suite("rainctl node list: what answers in the cloud's place")
struct NodeListTests {
    enum Invention: String, CaseIterable, CustomTestStringConvertible {
        case emptyPages, manyNodes, largeNodes, circle, longToken
        var testDescription: String { rawValue }

        /// How many pages are asked for before it is noticed.
        var pages: ClosedRange<Int> {
            switch self {
            case .emptyPages: 1000...1000
            case .manyNodes: 51...51
            case .largeNodes: 60...66
            case .circle: 3...3
            case .longToken: 1...1
            }
        }

        func page(_ number: Int) -> String {
            let nodes: [String] =
                switch self {
                case .manyNodes: (0..<2000).map { #"{"id":"n-\#(number)-\#($0)","role":"primary"}"# }
                case .largeNodes:
                    [#"{"id":"n-\#(number)","config":{"x":"\#(String(repeating: "x", count: 1 << 20))"}}"#]
                case .emptyPages, .circle, .longToken: []
                }
            let next =
                switch self {
                case .circle: number.isMultiple(of: 2) ? "a" : "b"
                case .longToken: String(repeating: "t", count: 100_000)
                default: "page-\(number)"
                }
            return #"{"nodes":[],"node_details":[\#(nodes.joined(separator: ","))],"next_id":"\#(next)"}"#
        }
    }

    @Test("pages without end are an error, and cost little memory", arguments: Invention.allCases)
    func invented(invention: Invention) async throws {
        try await withTemporaryFolder { folder in
            let asked = Atomic(0)
            let server = try LoopbackServer(remembersRequests: false) { peer in
                while let request = peer.readRequest() {
                    let call = request.requestLine
                    if call.hasPrefix("POST /v1/login2 ") {
                        peer.respond("200 OK", CannedCloud.tokens.body)
                    } else if call.hasPrefix("GET /v1/user2 ") {
                        peer.respond("200 OK", CannedCloud.profile.body)
                    } else {
                        peer.respond("200 OK", invention.page(asked.add(1, ordering: .relaxed).oldValue))
                    }
                }
            }
            let maker = try Maker(folder)
            try maker.point(at: String(server.url.dropLast()))
            try await maker.succeeds(["login", SimulatedCloud.user, "--password-file", folder.file("password")])
            let measured = try await run(
                "python3",
                ["-c", Self.measure, try Executables.path("rainctl"), "node", "list", "--json", "--timeout", "600s"],
                environment: maker.environment)
            #expect(measured.status == .exited(75), "\(measured.standardOutput)\(measured.standardError)")
            let failure = try JSONValue(parsing: Array(measured.standardOutput.utf8))["error"]
            #expect(failure?["code"]?.string == "temporary")
            #expect(
                failure?["message"]?.string?.contains("was not read to its end") == true, "\(measured.standardOutput)")
            let pages = asked.load(ordering: .relaxed)
            #expect(invention.pages.contains(pages), "\(pages) pages")
            let peak = measured.standardError.split(separator: "\n").compactMap { line in
                line.hasPrefix("peak ") ? Int(line.dropFirst(5)) : nil
            }
            #expect((peak.first ?? .max) < 200_000, "\(peak) KiB")
        }
    }

    /// Runs what follows, and tells its peak of memory in KiB.
    private static let measure = """
        import resource, subprocess, sys
        status = subprocess.run(sys.argv[1:]).returncode
        print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
        sys.exit(status)
        """

    static let portals = [302, 303, 307].flatMap { status in
        ["", "<html>Welcome. Accept the terms.</html>", #"{"message":"Found"}"#].map { (status: status, body: $0) }
    }

    @Test("a network's sign-in page is temporary, whichever way it answers", arguments: portals)
    func portal(answer: (status: Int, body: String)) async throws {
        let call = "GET /v1/user/nodes?node_details=true"
        try await AccountScene.run([call: [answer]], signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl("node", "list", "--json")
            outcome.expectFailure(75, "temporary", says: "Sign in to the network")
        }
        try await AccountScene.run(["POST /v1/login2": [answer]]) { maker, _ in
            let outcome = try await maker.rainctl(
                "login", SimulatedCloud.user, "--password-file", maker.folder.file("password"), "--json")
            outcome.expectFailure(75, "temporary", says: "Sign in to the network")
        }
    }

    @Test("an address that has moved for good is for the user to change")
    func moved() async throws {
        let call = "GET /v1/user/nodes?node_details=true"
        try await AccountScene.run([call: [(308, "")]], signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl("node", "list", "--json")
            outcome.expectFailure(78, "config", says: "has moved")
        }
    }
}
