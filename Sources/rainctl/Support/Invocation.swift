// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import Synchronization

/// One run of a command: the one of this process, or one of a request to `rainctl serve`.
///
/// It holds everything that belongs to the run but is not among the command's own options: arguments, environment, warnings, notes for
/// errors, and the request that gets the output. Read ``current`` at the start of the work; a thread that the run starts does not have it.
final class Invocation: Sendable {
    /// The run that this task belongs to.
    @TaskLocal static var current = Invocation()

    let arguments: [String]
    /// The request whose client gets the output; nil for a command with a terminal or pipes of its own.
    let request: ServedRequest?
    let warnings = Warnings()
    /// The transports to boards. Requests that run at once do not share any, because each closes its own.
    let transports: [any BoardTransport]
    private let notes = Mutex(Notes())

    private struct Notes {
        var settings = GivenSettings()
        var silence: NotedHTTPClient.Silence?
    }

    /// The run of the process.
    private init() {
        arguments = Array(CommandLine.arguments.dropFirst())
        request = nil
        transports = Transports.registered
    }

    /// The run of a request.
    init(arguments: [String], request: ServedRequest) {
        self.arguments = arguments
        self.request = request
        transports = Transports.make()
    }

    var environment: [String: String] { request?.environment ?? processEnvironment() }

    /// The identity provider of the arguments or the environment, for sentences about the next command; nil for RainMaker.
    var provider: NamedProvider? { NamedProvider(arguments: arguments, variable: providerVariable) }

    /// Whether the environment names the provider, and no option does.
    var hasProviderFromVariable: Bool {
        provider != nil && NamedProvider(arguments: arguments, variable: nil) == nil
    }

    private var providerVariable: String? {
        if let request { return request.environment["RAINKIT_PROVIDER"] }
        return getenv("RAINKIT_PROVIDER").map { String(cString: $0) }
    }

    /// The values from the environment and from settings files, for errors about them.
    var settings: GivenSettings { notes.withLock { $0.settings } }
    func note(_ change: (inout GivenSettings) -> Void) { notes.withLock { change(&$0.settings) } }

    /// The server of the last request that was given up, for the message at the end of the command's time.
    var silence: NotedHTTPClient.Silence? {
        get { notes.withLock { $0.silence } }
        set { notes.withLock { $0.silence = newValue } }
    }
}
