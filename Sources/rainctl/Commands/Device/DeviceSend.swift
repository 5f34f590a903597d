// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import RainKit

struct DeviceSend: DeviceCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "send",
        abstract: "Send data to an endpoint of the board's application, over a secure session.",
        discussion: """
            Example: rainctl device send custom-data --text 'hello' --transport ble \\
                         --device-name PROV_a1b2c3 --pop-file pop.txt

            The firmware must create the endpoint with network_prov_mgr_endpoint_create. If the command line has no data, rainctl reads \
            the data from standard input. rainctl prints the answer as text, or as hex digits if the answer is not text.
            """)

    @Argument(help: "The endpoint's name, such as custom-data.")
    var endpoint: String

    @Option(help: ArgumentHelp("Send this text.", valueName: "text"))
    var text: String?

    @Option(help: ArgumentHelp("Send these bytes, given as hex digits.", valueName: "digits"))
    var hex: String?

    @Option(help: ArgumentHelp("Send this JSON document.", valueName: "json"))
    var jsonData: String?

    @Option(
        help: ArgumentHelp("Send the contents of this file (- for standard input).", valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Print the bytes of the answer unchanged.")
    var raw = false

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    private var payload: Payload { Payload(text: text, hex: hex, json: jsonData, file: file) }

    func validate() throws {
        if payload.count > 1 {
            throw ValidationError("Give the data with only one of --text, --hex, --json-data and --file.")
        }
        if raw, options.isJSON {
            throw ValidationError("--raw and --json print the answer in different forms: give only one.")
        }
        let readers = [device.popStdin, device.qrcode == "-", payload.count == 0 || file == "-"]
        if readers.count(where: { $0 }) > 1 {
            throw ValidationError(
                "Only one option can read from standard input: give the data with --file or --text.")
        }
    }

    func run() async throws {
        // The time for reading is part of the command's time.
        let time = TimeBudget(timeout)
        let data = try payload.bytesForBoard(within: time.left)
        let endpoint = endpoint
        let (answer, output) = try await withBoard(within: time) { board in
            _ = try await board.identify()
            try await board.secure()
            return try await board.send(data, to: endpoint)
        }
        guard raw else { return output.result(SendResult(endpoint, sent: data, answered: answer)) }
        StandardStreams.out(answer)
    }
}

extension SendResult: CommandResult {
    /// The answer as text if it is text, otherwise its hex digits.
    var text: String { answer ?? answerHex }
}
