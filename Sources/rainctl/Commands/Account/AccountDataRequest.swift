// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

struct AccountDataRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "data-request", abstract: "Ask the cloud for everything that it has stored about you.",
        discussion: """
            Example: rainctl account data-request
                     rainctl account data-request REQUEST

            Without an argument, the command asks the cloud to collect the data, and prints the request's id. Later, run the command again \
            with this id. When the data is ready, the command prints the URL of the data. Anyone who has the URL can read your data. The \
            URL works for 24 hours.
            """)

    @Argument(help: "The id of an earlier request.")
    var request: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if let request, request.isBlank { throw ValidationError("The request's id must not be empty.") }
    }

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account().rainMakerAccount(for: "requests for the data of accounts")
        let result: DataRequestResult
        if let request {
            let id = RequestID(request)
            let url = try await withTimeout(timeout.duration) { try await account.collectedData(id) }
            result = DataRequestResult(requestID: id.rawValue, ready: url != nil, url: url?.revealString())
        } else {
            let id = try await withTimeout(timeout.duration) { try await account.requestData() }
            result = DataRequestResult(requestID: id.rawValue, ready: false, url: nil)
        }
        context.output.result(result)
    }
}

/// A request for everything that the cloud has stored about the user.
struct DataRequestResult: CommandResult {
    let requestID: String
    let ready: Bool
    /// Where the data is. Whoever has the URL can read it.
    let url: String?

    var text: String {
        url?.onOneLine
            ?? "The cloud is collecting your data. To see whether the data is ready, run: \(commandLine("account data-request \(requestID.asShellWord)"))"
    }
}
