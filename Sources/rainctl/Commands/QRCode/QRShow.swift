// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// Draws a board's QR code.
struct QRShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Draw a board's QR code: on the terminal, as a picture, or as a label to print.",
        discussion: """
            Example: rainctl qr show --device-name PROV_a1b2c3 --pop-file pop.txt --svg label.svg

            A code has the board's proof of possession in it: the files can be read by you alone.
            """)

    enum Medium: String, ExpressibleByArgument, CaseIterable { case ble, softap }

    @Argument(
        help: ArgumentHelp(
            "A code's text, in the place of the options: text, a file, or - for standard input.", valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("The board's name, such as PROV_a1b2c3.", valueName: "name"))
    var deviceName: String?

    @Option(help: ArgumentHelp("The proof of possession (seen by other users: prefer --pop-file).", valueName: "pop"))
    var pop: String?

    @Option(help: ArgumentHelp("Read the proof of possession from a file.", valueName: "file"), completion: .file())
    var popFile: String?

    @Flag(help: "Read the proof of possession from standard input.")
    var popStdin = false

    @Option(help: "How the board is reached: ble or softap.")
    var transport: Medium = .ble

    @Option(help: ArgumentHelp("The user name of Security 2.", valueName: "name"))
    var username: String?

    @Flag(help: "The compact form, NP:name|pop|b: a smaller code, for firmware and apps since 2025.")
    var compact = false

    @Flag(help: "An address of RainMaker's page, with the code behind it.")
    var url = false

    @Flag(help: "Draw with # instead of blocks.")
    var ascii = false

    @Flag(help: "For terminals that write dark on light.")
    var invert = false

    @Option(
        help: ArgumentHelp("Write a picture into this file (- is standard output).", valueName: "file"),
        completion: .file())
    var png: String?

    @Option(help: ArgumentHelp("Pixels for each module of the picture.", valueName: "n"))
    var scale = 8

    @Option(
        help: ArgumentHelp("Write a label to print into this file (- is standard output).", valueName: "file"),
        completion: .file())
    var svg: String?

    @Option(help: ArgumentHelp("The label's width.", valueName: "mm"))
    var size = 25

    @Option(help: ArgumentHelp("A line of text on the label; the board's name if none is given.", valueName: "text"))
    var label: [String] = []

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if (code == nil) == (deviceName == nil) { throw ValidationError("Give a code, or the board's --device-name.") }
        if code != nil, pop != nil || popFile != nil || popStdin || username != nil || compact || url {
            throw ValidationError("A code that is given is drawn as it is: leave the other options away.")
        }
        if compact, url { throw ValidationError("--compact and --url are two forms: give one of them.") }
        if !(1...64).contains(scale) { throw ValidationError("--scale is 1 to 64.") }
        if !(5...500).contains(size) { throw ValidationError("--size is 5 to 500 millimetres.") }
        if png == "-", svg == "-" { throw ValidationError("Only one thing can go to standard output.") }
        if [png, svg].contains("-"), options.json {
            throw ValidationError("With --json standard output is the document.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let (text, name) = try payload(context)
        do {
            let matrix = try QRMatrix(text.revealBytes())
            if let png { try write(try matrix.png(scale: scale), to: png) }
            if let svg {
                let lines = label.isEmpty ? [name] : label
                try write(Array(matrix.svg(label: lines.map(\.onOneLine), side: Double(size)).utf8), to: svg)
            }
            if [png, svg].contains("-") { return }
            var result = QRShowResult(name: name, png: png, svg: svg, modules: matrix.width)
            if png == nil, svg == nil {
                let drawing = ascii ? matrix.ascii(isInverted: invert) : matrix.halfBlocks(isInverted: invert)
                if !options.json { try checkWidth(drawing) }
                result.drawing = drawing
            }
            context.output.result(result)
        } catch let error as QRCodeError {
            throw CommandFailure(error)
        }
    }

    /// Lines that wrap are a picture of nothing.
    private func checkWidth(_ drawing: String) throws(CommandFailure) {
        let width = drawing.prefix { $0 != "\n" }.count
        guard let columns = TerminalSize.columnsOfOutput, width > columns else { return }
        throw CommandFailure(
            .usage,
            message:
                "The code is \(width) columns wide, and the terminal has \(columns): make it wider, or write the code into a "
                + "file with --svg or --png.")
    }

    /// What the code says, and the board's name.
    private func payload(_ context: Context) throws -> (Secret, String) {
        if let code {
            let bytes = try QRText.bytes(code, context.output)
            do throws(ProvisioningError) {
                return (Secret(bytes), try QRPayload(bytes).name)
            } catch {
                throw CommandFailure(.badData, reason: "bad_qr_code", message: error.message)
            }
        }
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: pop, file: popFile, fromStandardInput: popStdin,
            environmentVariable: .proofOfPossession, ifThereIsNone: "Leave it away for a board that wants none.")
        let proof = try source.read(environment: context.environment, output: context.output)
        let name = deviceName ?? ""
        do throws(ProvisioningError) {
            return (
                try QRPayload.text(
                    name: name, proof: proof.map { ProofOfPossession($0) },
                    transport: transport == .ble ? .ble : .softap,
                    username: username, form: compact ? .compact : url ? .url : .json), name
            )
        } catch {
            throw CommandFailure(error)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        if path == "-" { return StandardStreams.out(bytes) }
        try PrivateOutputFile.write(bytes, to: path, name: "picture")
    }
}
