// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import RainKit
import Synchronization
import TestSupport

/// A cloud that answers each call with what a test wrote down for it, in turn; anything else gets 404. The last answer for a call
/// goes on for ever. The status 0 stands for none: the call is left without an answer.
final class CannedCloud: Sendable {
    private let server: LoopbackServer

    init(_ answers: [String: [(status: Int, body: String)]]) throws {
        let left = Mutex(answers)
        server = try LoopbackServer { peer in
            while let request = peer.readRequest() {
                let words = request.requestLine.split(separator: " ")
                let call = words.prefix(2).joined(separator: " ")
                let answer = left.withLock { left -> (status: Int, body: String) in
                    guard let next = left[call]?.first else { return (404, #"{"message":"Not Found"}"#) }
                    if left[call]?.count ?? 0 > 1 { left[call]?.removeFirst() }
                    return next
                }
                guard answer.status != 0 else { continue }
                peer.respond("\(answer.status) X", headers: ["Content-Type: application/json"], answer.body)
            }
        }
    }

    /// What was asked: method and target.
    var calls: [String] { server.seen.map { $0.requestLine.split(separator: " ").prefix(2).joined(separator: " ") } }
    /// The bodies of the requests of that call.
    func bodies(_ call: String) -> [JSONValue?] {
        server.seen.filter { $0.requestLine.hasPrefix(call + " ") }.map { try? JSONValue(parsing: $0.body) }
    }

    /// A maker who uses this cloud.
    func maker(in folder: TemporaryFolder, signedIn: Bool = false) async throws -> Maker {
        let maker = try Maker(folder)
        try maker.point(at: self)
        if signedIn {
            try await maker.succeeds(["login", "maker@example.com", "--password-file", folder.file("password")])
        }
        return maker
    }

    var base: String { String(server.url.dropLast()) }

    // MARK: Answers

    static let silence = (status: 0, body: "")
    static let done = (status: 200, body: #"{"status":"success","description":"d"}"#)
    static let created = (status: 201, body: #"{"status":"success","description":"d"}"#)
    static let challenge = (
        status: 200, body: #"{"status":"success","description":"sent","session":"planted-session"}"#
    )
    static let unauthorized = (status: 401, body: #"{"message":"Unauthorized"}"#)
    static let profile = (
        status: 200, body: #"{"user_id":"user-1","user_name":"maker@example.com","mfa":false}"#
    )

    static func refusal(_ code: Int, status: Int = 400) -> (status: Int, body: String) {
        (status, #"{"status":"failure","error_code":\#(code),"description":"words of \#(code)"}"#)
    }

    /// Tokens that live for an hour.
    static var tokens: (status: Int, body: String) {
        let now = Int(Date().timeIntervalSince1970)
        let claims = Data(#"{"iat":\#(now),"exp":\#(now + 3600),"custom:user_id":"user-1"}"#.utf8).base64EncodedString()
            .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
        let token = "eyJhbGciOiJub25lIn0.\(claims).cGxhbnRlZC1zaWduYXR1cmU"
        return (
            200,
            #"{"status":"success","description":"d","idtoken":"\#(token)","accesstoken":"\#(token)","refreshtoken":"planted-refresh"}"#
        )
    }

    /// What signing in takes.
    static var signIn: [String: [(status: Int, body: String)]] {
        ["POST /v1/login2": [tokens], "GET /v1/user2": [profile]]
    }
}

extension Maker {
    /// Runs a command that must end with 0.
    @discardableResult
    func succeeds(_ arguments: [String], input: ChildProcess.Input = .empty) async throws -> Outcome {
        let outcome = try await rainctl(arguments, input: input)
        guard outcome.status == 0 else {
            throw ProcessError(
                "\(arguments) ended with \(outcome.status): \(outcome.standardError)\(outcome.standardOutput)")
        }
        return outcome
    }

    /// The profile `sim` is the one in use and leads there from now on, as `profile add` and `profile use` would have it.
    func point(at cloud: CannedCloud) throws { try point(at: cloud.base) }

    func point(at base: String) throws {
        let path = folder.file("config/rainkit")
        let content = #"{"schemaVersion":1,"current":"sim","deployments":[{"name":"sim","base_url":"\#(base)"}]}"#
        let files = FileManager.default
        try files.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let written = files.createFile(
            atPath: "\(path)/deployments.json", contents: Data(content.utf8), attributes: [.posixPermissions: 0o600])
        guard written else { throw ProcessError("\(path)/deployments.json cannot be written") }
    }

    /// As ``point(at:)``, and the stored session is for that address, as if the user had signed in there.
    func move(to base: String) async throws {
        try point(at: base)
        let store = FileCredentialStore(folder: folder.file("state/rainkit/sessions"))
        let key = try AccountDirectory(folder: folder.file("state/rainkit"), environment: [:]).account(at: "sim").key
        guard var session = try store.load(key) else { return }
        session.context["base_url"] = base
        let moved = session
        try await store.exclusively(key, within: .waitLimit) { access async throws(AccountError) in
            try await access.save(moved)
        }
    }
}
