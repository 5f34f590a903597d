// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// Clouds that are there, and answer what they should not.
extension DoctorTests {
    /// A profile at a server that answers every request alike; it lives as long as the process.
    private static func answering(
        _ machine: Machine, _ status: String, _ headers: [String] = [], _ body: String = "{}"
    ) throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond(status, headers: headers, body) }
        }
        servers.keep(server)
        try profile(machine, base: String(server.url.dropLast()))
    }

    private static let servers = Kept<LoopbackServer>()

    /// Requests for that path fail in a way of docs/simulated-cloud.md.
    static func failing(_ machine: Machine, _ path: String, _ action: JSONValue, _ status: JSONValue? = nil)
        async throws
    {
        var rule: [JSONValue.Member] = [.init("path", .string(path)), .init("action", action)]
        if let status { rule.append(.init("status", status)) }
        try await machine.cloud.control("faults", ["rules": .array([.object(rule)])])
    }

    static let answers: [Fault] = [
        Fault("session", "server_fault", fix: nil) {
            try await failing($0, "/v1/user2", "status")
            return [:]
        },
        Fault("session", "forbidden", fix: "rainctl account curl") {
            try await failing($0, "/v1/user2", "status", 403)
            return [:]
        },
        Fault("session", "rate_limited", "warn", fix: nil) {
            try await failing($0, "/v1/user2", "status", 429)
            return [:]
        },
        Fault("session", "malformed_answer", fix: "rainctl account curl") {
            try await failing($0, "/v1/user2", "html")
            return [:]
        },
        Fault("session", "malformed_answer", fix: "rainctl account curl") {
            try await failing($0, "/v1/user2", "truncate")
            return [:]
        },
        Fault("session", "timeout", fix: "rainctl account curl") {
            try await failing($0, "/v1/user2", "hang")
            return [:]
        },
        Fault("cloud", "sign_in_page", fix: "xdg-open") {
            try answering($0, "302 Found", ["Location: http://portal.example/"])
            return [:]
        },
        Fault("cloud", "sign_in_page", fix: "xdg-open") {
            try answering($0, "200 OK", ["Content-Type: text/html"], "<!DOCTYPE html><html>Welcome</html>")
            return [:]
        },
        Fault("cloud", "sign_in_page", fix: "xdg-open") {
            try answering($0, "511 Network Authentication Required")
            return [:]
        },
        Fault("cloud", "sign_in_page", fix: "xdg-open") {
            try await failing($0, "/apiversions", "html")
            return [:]
        },
        Fault("cloud", "not_the_service", fix: "rainctl profile show") {
            try await failing($0, "/apiversions", "truncate")
            return [:]
        },
        Fault("cloud", "not_the_service", fix: "rainctl profile show") {
            try answering($0, "200 OK")
            return [:]
        },
        Fault("cloud", "rate_limited", "warn", fix: nil) {
            try await failing($0, "/apiversions", "status", 429)
            return [:]
        },
        Fault("cloud", "server_fault", fix: nil) {
            // Of one cause that the check of the session meets as well nothing is said twice.
            try await failing($0, "/*", "status", 503)
            return [:]
        },
        Fault("cloud", "server_fault", fix: nil) {
            try answering($0, "503 Service Unavailable")
            return [:]
        },
        Fault("cloud", "not_the_service", fix: "rainctl profile show") {
            try answering($0, "404 Not Found")
            return [:]
        },
        Fault("clock", "clock_skew", "warn", fix: "sudo timedatectl") {
            try answering($0, "200 OK", ["Date: Sun, 06 Nov 1994 08:49:37 GMT"])
            return [:]
        },
    ]
}
