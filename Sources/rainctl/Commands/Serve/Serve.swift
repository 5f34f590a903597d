// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainIO
import RainKit

/// Answers the requests of another program for as long as it runs, so that connections stay open between them.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "serve", abstract: "Answer requests from another program (JSON-RPC 2.0, one request per line).",
        discussion: """
            Example: rainctl serve
                     rainctl serve --socket "$XDG_RUNTIME_DIR/rainkit/rainctl.sock"

            Most commands are methods, for example: {"jsonrpc":"2.0","id":1,"method":"node.list","params":{}}. A result is the JSON \
            document that the command prints with --json. Events arrive as notifications. Call "methods" for a list of all methods. See \
            docs/from-any-language.md.
            """)

    @Option(
        help: ArgumentHelp(
            "Listen on this Unix socket instead of standard input and output. Only your own user can connect.",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// The number of requests that run at once.
    static let maximumRequests = 64

    func run() async throws {
        let context = try Context(options)
        let service = CommandService(context, options)
        let limit = RunLimit(Self.maximumRequests)
        guard let socket else {
            return try await service.serve(input: STDIN_FILENO, output: STDOUT_FILENO, limit)
        }
        let listener = try ServeSocket(path: socket)
        context.output.result(ServeResult(socket: listener.path))
        try await listener.accept { client in
            try? await service.serve(input: client, output: client, limit)
        }
    }
}

/// The socket at which the server listens, printed when it does.
struct ServeResult: CommandResult {
    let socket: String

    var text: String { "Listening at \(socket.onOneLine)." }
}

extension CommandService {
    /// The service of a server that was started with these options.
    init(_ context: Context, _ options: GlobalOptions) {
        let defaults = [("profile", options.profile), ("account", options.account), ("ca-file", options.caFile)]
        self.init(
            resources: ServedResources(environment: context.environment, logger: context.logger),
            defaults: defaults.compactMap { name, value in
                value.map { CommandService.Default(name: name, value: $0) }
            })
    }

    /// Answers the requests of one client, as ``LineConnection/serve(_:)`` describes.
    func serve(input: Int32, output: Int32, _ limit: RunLimit) async throws {
        let connection = try LineConnection(input: input, output: output)
        try await connection.serve(
            Dispatcher(
                limit: limit, isEndless: Self.isEndless, work: { await answer($0, $1) }, send: { connection.send($0) }))
    }
}

extension LineConnection {
    /// Passes the lines of the client to `dispatcher`, until the client sends nothing more and has all its answers. If the task is cancelled,
    /// the requests are, too.
    func serve(_ dispatcher: Dispatcher) async throws {
        let ended = Waiter<Void>()
        let closed = Waiter<Void>()
        let failure = startThread {
            self.run(
                LineConnection.Events(
                    received: { dispatcher.take($0) },
                    ended: {
                        dispatcher.endInput()
                        ended.resume()
                    },
                    lost: {
                        dispatcher.cancelAll()
                        ended.resume()
                    }))
            closed.resume()
        }
        guard failure == 0 else {
            throw CommandFailure(
                .temporary, reason: "no_threads",
                message: "The system could not start a thread: \(systemErrorText(failure)).")
        }
        await withTaskCancellationHandler {
            await ended.value()
            await dispatcher.drained()
        } onCancel: {
            dispatcher.cancelAll()
            ended.resume()
        }
        finish()
        await closed.value()
    }
}
