// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Logging
import RainCore
import RainJSON
import RainKit
import Synchronization

/// Answers requests by running commands in this process.
struct CommandService: Sendable {
    let resources: ServedResources
    /// The options of the server for its requests, such as `--profile=lab`.
    let defaults: [Default]
    private let parsed = ParsedCommands()

    init(resources: ServedResources, defaults: [Default]) { (self.resources, self.defaults) = (resources, defaults) }

    struct Default: Sendable {
        let name: String
        let value: String
    }

    /// Methods that run until they are cancelled unless they have a time limit.
    private static let endless: Set = ["device.monitor", "node.watch"]

    static func isEndless(_ call: RPCCall) -> Bool {
        endless.contains(call.method) && !call.params.contains { $0.name == "timeout" && !$0.value.isNull }
    }

    func answer(
        _ call: RPCCall, _ notify: @escaping @Sendable (ServedRequest.Notice) -> Void
    ) async -> Result<String, RPCError> {
        resources.logger.debug("request", metadata: ["method": "\(call.method.onOneLine)"])
        if call.method == "methods" { return .success(JSONText.documentLine(MethodsResult(ServedMethod.all))) }
        return await run(call.method, call.params, notify)
    }

    /// Runs the command of a method, and returns its document.
    ///
    /// - Parameter files: the contents of files, by options of the command such as `file`.
    func run(
        _ name: String, _ params: [JSONValue.Member], files: [String: Secret] = [:],
        _ notify: @escaping @Sendable (ServedRequest.Notice) -> Void
    ) async -> Result<String, RPCError> {
        let method: ServedMethod
        let given: ServedMethod.Given
        do throws(RPCError) {
            method = try ServedMethod.named(name)
        } catch {
            return .failure(error)
        }
        do throws(CommandFailure) {
            given = try method.given(params)
        } catch {
            return .failure(RPCError(.invalidParams, error))
        }
        let ownDefaults = defaults.filter { option in
            !params.contains { $0.name == option.name.replacing("-", with: "_") }
        }
        let arguments =
            Self.options(ownDefaults) + files.keys.sorted().map { "--\($0)=\(ServedRequest.path(ofMember: $0))" }
            + given.arguments
        return await asRequest(
            method.words + arguments, secrets: given.secrets.merging(files) { $1 }, notify
        ) { request in
            await self.run(method, arguments, for: request)
        }
    }

    /// Asks the cloud as the user, and returns the document of the result.
    func ask(
        within limit: Duration, _ notify: @escaping @Sendable (ServedRequest.Notice) -> Void,
        _ question: @escaping @Sendable (CloudScene) async throws -> any CommandResult
    ) async -> Result<String, RPCError> {
        let arguments = Self.options(defaults)
        return await asRequest(arguments, secrets: [:], notify) { request in
            do {
                let context = try Context(try GlobalOptions.parse(arguments))
                let client = try context.rainMakerClient()
                let scene = CloudScene(
                    context: context, client: client, cloud: try client.rainMakerNodes(),
                    time: TimeBudget(DurationArgument(limit)))
                context.output.result(try await question(scene))
            } catch {
                return .failure(RPCError(CommandFailure(error), warnings: Invocation.current.warnings.all))
            }
            return .success(request.result ?? JSONText.documentLine(NoResult()))
        }
    }

    private static func options(_ defaults: [Default]) -> [String] {
        ["--json", "--no-input"] + defaults.map { "--\($0.name)=\($0.value)" }
    }

    /// Does some work as a request with its own invocation, and closes the request's transports at the end.
    private func asRequest(
        _ arguments: [String], secrets: [String: Secret],
        _ notify: @escaping @Sendable (ServedRequest.Notice) -> Void,
        _ work: (ServedRequest) async -> Result<String, RPCError>
    ) async -> Result<String, RPCError> {
        let request = ServedRequest(secrets: secrets, server: resources, notify: notify)
        let run = Invocation(arguments: arguments, request: request)
        return await Invocation.$current.withValue(run) {
            let outcome = await work(request)
            for transport in run.transports { await transport.close() }
            return outcome
        }
    }

    private func run(
        _ method: ServedMethod, _ arguments: [String], for request: ServedRequest
    ) async -> Result<String, RPCError> {
        let warnings = Invocation.current.warnings
        let type = method.command
        var command: any ParsableCommand
        do {
            command = try parsed.command(of: type, arguments)
        } catch {
            let failure = CommandFailure(
                .usage, reason: "bad_params", message: "\(method.name): \(type.message(for: error))")
            return .failure(RPCError(.invalidParams, failure))
        }
        do {
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            var failure = CommandFailure(error)
            if failure.status == .other, type.exitCode(for: error) == .validationFailure {
                failure = CommandFailure(.usage, message: type.message(for: error))
            }
            return .failure(RPCError(failure, warnings: warnings.all))
        }
        return .success(request.result ?? JSONText.documentLine(NoResult(), warnings: warnings.all))
    }
}

/// Commands that were parsed for earlier requests.
///
/// Programs repeat their requests, and parsing takes longer than all other work on a short one. The result depends on the arguments only:
/// files, the clock and the environment are read when a command runs. Secrets are not arguments.
private final class ParsedCommands: Sendable {
    /// A command is a value without references, so tasks may share it although the parser's types do not promise that.
    private struct Parsed: @unchecked Sendable {
        let command: any ParsableCommand
    }

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let arguments: [String]
    }

    private static let maximumCount = 64
    /// Longer arguments are not kept.
    private static let maximumBytes = 2048
    private let known = Mutex<[Key: Parsed]>([:])

    /// - Throws: the parser's error. It is not kept.
    func command(of type: any ParsableCommand.Type, _ arguments: [String]) throws -> any ParsableCommand {
        let key = Key(type: ObjectIdentifier(type), arguments: arguments)
        if let parsed = known.withLock({ $0[key] }) { return parsed.command }
        let parsed = Parsed(command: try type.parseAsRoot(arguments))
        if arguments.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumBytes {
            known.withLock { known in
                if known.count >= Self.maximumCount { known.removeAll() }
                known[key] = parsed
            }
        }
        return parsed.command
    }
}

/// The document of a command that has sent all its results as events.
private struct NoResult: Encodable {}

/// The result of the method `methods`.
struct MethodsResult: CommandResult {
    /// The version of rainctl.
    let version: String
    let methods: [Method]
    let excluded: [Excluded]

    struct Method: Encodable, Sendable {
        let name: String
        let summary: String
        let params: [Param]
    }

    struct Param: Encodable, Sendable {
        let name: String
        let type: String
        let required: Bool
        let values: [String]?
        let help: String
    }

    /// A command that is not a method.
    struct Excluded: Encodable, Sendable {
        let name: String
        let reason: String
    }

    var text: String { methods.map { "\($0.name): \($0.summary)" }.joined(separator: "\n") }

    init(_ all: [ServedMethod], version: String = RainKitVersion.current) {
        self.version = version
        methods =
            all.map { method in
                Method(
                    name: method.name, summary: method.summary,
                    params: method.allMembers.map {
                        Param(
                            name: $0.name, type: $0.kind.rawValue, required: $0.isRequired, values: $0.values,
                            help: $0.help)
                    })
            }
            + [
                Method(
                    name: "cancel", summary: "Cancel a running request.",
                    params: [
                        Param(name: "id", type: "string", required: true, values: nil, help: "The request's id.")
                    ]),
                Method(name: "methods", summary: "List the methods and their members.", params: []),
            ]
        excluded = ServedMethod.excluded.sorted { $0.key < $1.key }.map { Excluded(name: $0.key, reason: $0.value) }
    }
}
