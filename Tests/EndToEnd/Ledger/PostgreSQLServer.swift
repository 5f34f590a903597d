// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainKit
import Synchronization
import TestSupport
import Testing

/// Debian's PostgreSQL, as a private server on a Unix socket. It accepts everyone, except that the user `locked` needs the password
/// ``password``.
final class PostgreSQLServer: Sendable {
    @TaskLocal static var current: PostgreSQLServer?
    static let password = "correct-horse"

    let folder: TemporaryFolder
    private let binaries: String
    private let process: Mutex<ChildProcess?>
    private let schemas = Atomic(0)

    /// The folder of the newest server that is installed; nil if none is.
    static let installed: String? = {
        let versions = (try? files(in: "/usr/lib/postgresql")) ?? []
        return versions.max { $0.compare($1, options: .numeric) == .orderedAscending }
            .map { "/usr/lib/postgresql/\($0)/bin" }
    }()

    /// Makes the server's files and starts it.
    static func with<Result>(_ body: (PostgreSQLServer) async throws -> Result) async throws -> Result {
        let server = try PostgreSQLServer()
        try await server.prepare()
        try await server.start()
        defer { server.kill() }
        return try await body(server)
    }

    private init() throws {
        binaries = try #require(Self.installed)
        folder = try TemporaryFolder()
        process = Mutex(nil)
    }

    /// The server refuses to run as root.
    private func command(_ program: String, _ arguments: [String]) -> [String] {
        let user = geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
        // A change of the user forgets the signal at the end of the parent, so it is set again.
        return user + ["--pdeathsig=KILL", "\(binaries)/\(program)"] + arguments
    }

    private func prepare() async throws {
        if geteuid() == 0, let user = getpwnam("postgres") {
            chown(folder.path, user.pointee.pw_uid, user.pointee.pw_gid)
        }
        let made = try await run(
            "setpriv",
            command(
                "initdb",
                ["--pgdata", folder.file("data"), "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=root"]))
        try #require(made.status == .exited(0), "\(made.standardError)")
        try folder.write("local all locked scram-sha-256\nlocal all all trust\n", to: "data/pg_hba.conf")
        try folder.write(
            """
            listen_addresses = ''
            unix_socket_directories = '\(folder.path)'
            max_connections = 50
            log_min_messages = fatal

            """, to: "data/postgresql.conf")
    }

    /// Starts the server, and waits until it accepts connections.
    func start() async throws {
        let started = try await ChildProcess.start(
            "setpriv", command("postgres", ["-D", folder.file("data")]), directory: folder.path)
        process.withLock { $0 = started }
        let end = ContinuousClock.now + .waitLimit
        while try await run("\(binaries)/pg_isready", ["-h", folder.path, "-q"]).status != .exited(0) {
            try #require(ContinuousClock.now < end, "\(started.standardError)")
        }
        try await sql(
            """
            do $$ begin
                if not exists (select from pg_roles where rolname = 'locked') then
                    create role locked login superuser password '\(Self.password)';
                end if;
            end $$
            """)
    }

    /// Ends all connections and the server at once, as a crash would.
    func crash() async throws {
        let running = try #require(process.withLock { $0 })
        try await running.terminate(SIGQUIT)
    }

    /// Ends the server in an orderly way, and waits until it has ended.
    func stop() async throws {
        let running = try #require(process.withLock { $0 })
        try await running.terminate(SIGINT)
    }

    /// Sends a signal to the server and to all processes of its connections.
    func signal(_ number: Int32) {
        guard let running = process.withLock({ $0 }) else { return }
        running.signal(number)
        // They have process groups of their own.
        let children = (try? readFile("/proc/\(running.pid)/task/\(running.pid)/children")) ?? ""
        for child in children.split(separator: " ").compactMap({ pid_t($0) }) { _ = Glibc.kill(child, number) }
    }

    private func kill() {
        signal(SIGCONT)
        process.withLock { $0 }?.kill()
    }

    /// The URL of an empty schema, or of that schema.
    func url(user: String = "root", password: String? = nil, schema: String? = nil) async throws -> String {
        var name = schema ?? ""
        if schema == nil {
            name = "s\(schemas.add(1, ordering: .relaxed).newValue)"
            try await sql("create schema \(name)")
        }
        let secret = password.map { ":" + $0 } ?? ""
        return "postgresql://\(user)\(secret)@/postgres?host=\(folder.path)&options=-csearch_path%3D\(name)"
    }

    @discardableResult
    func sql(_ text: String) async throws -> String {
        let done = try await run(
            "psql",
            [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder.path, "-U", "root", "-d", "postgres",
                "-c", text,
            ])
        guard done.status == .exited(0) else { throw ProcessError("psql: \(done.standardError)") }
        return done.standardOutput
    }
}

/// Gives a suite a PostgreSQL server, ``PostgreSQLServer/current``, for tests that leave it running.
struct PostgreSQLTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await PostgreSQLServer.with { server in
            try await PostgreSQLServer.$current.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == PostgreSQLTrait {
    static var postgreSQL: Self { PostgreSQLTrait() }
}
