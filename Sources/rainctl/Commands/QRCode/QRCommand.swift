// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainHTTP
import RainKit
import RainPrivateFiles

struct QRCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr", abstract: "Draw and read the QR codes of boards.",
        subcommands: [QRShow.self, QRRead.self])
}

/// Draws a board's QR code.
struct QRShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "show", abstract: "Draw a board's QR code: on the terminal, as a picture, or as a label to print.",
        discussion: """
            Example: rainctl qr show --device-name PROV_a1b2c3 --pop-file pop.txt \\
                         --svg label.svg

            A code contains the board's proof of possession, so rainctl makes the files readable only by you. In this command, \
            --compact draws a smaller form of the code (NP:name|pop|b). Firmware and apps since 2025 support this form.
            """)

    enum Medium: String, WordArgument { case ble, softap }

    @Argument(
        help: ArgumentHelp(
            "The code to draw: its text, a file, or - for standard input. With --device-name, omit this argument.",
            valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("Draw a code for the board with this name, such as PROV_a1b2c3.", valueName: "name"))
    var deviceName: String?

    @Option(
        help: ArgumentHelp(
            "Use this proof of possession. Other users of this machine can see it, so prefer --pop-file.",
            valueName: "pop"))
    var pop: String?

    @Option(help: ArgumentHelp("Read the proof of possession from a file.", valueName: "file"), completion: .file())
    var popFile: String?

    @Flag(help: "Read the proof of possession from standard input.")
    var popStdin = false

    @Option(
        help: "Set the transport of the board's firmware: ble (Bluetooth) or softap (the board's own access point).")
    var transport: Medium = .ble

    @Option(help: ArgumentHelp("Use this user name for security scheme 2.", valueName: "name"))
    var username: String?

    @Flag(help: "Draw the code as a link to RainMaker's web page.")
    var url = false

    @Flag(help: "Draw with # characters instead of blocks.")
    var ascii = false

    @Flag(help: "Draw for terminals with dark text on a light background.")
    var invert = false

    @Option(
        help: ArgumentHelp("Write a PNG picture to this file (- for standard output).", valueName: "file"),
        completion: .file())
    var png: String?

    @Option(help: ArgumentHelp("Use this many pixels for each square of the picture.", valueName: "n"))
    var scale = 8

    @Option(
        help: ArgumentHelp("Write an SVG label for printing to this file (- for standard output).", valueName: "file"),
        completion: .file())
    var svg: String?

    @Option(help: ArgumentHelp("Set the label's width in millimetres.", valueName: "mm"))
    var size = 25

    @Option(
        help: ArgumentHelp(
            "Write this line of text on the label (repeatable; default: the board's name).", valueName: "text"))
    var label: [String] = []

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// `--compact` is the form of the code here, and that of the document only beside `--json`.
    private var compact: Bool { options.compact }

    private var sharedOptions: GlobalOptions {
        var shared = options
        shared.compact = options.json && options.compact
        return shared
    }

    func validate() throws {
        if (code == nil) == (deviceName == nil) { throw ValidationError("Give a code, or the board's --device-name.") }
        if code != nil, pop != nil || popFile != nil || popStdin || username != nil || compact || url {
            throw ValidationError(
                "CODE is drawn unchanged: omit --pop, --pop-file, --pop-stdin, --username, --compact and --url.")
        }
        if compact, url { throw ValidationError("--compact and --url draw different forms: give only one of them.") }
        if !(1...64).contains(scale) { throw ValidationError("--scale must be 1 to 64.") }
        if !(5...500).contains(size) { throw ValidationError("--size must be 5 to 500 millimetres.") }
        if png == "-", svg == "-" {
            throw ValidationError("Only one picture can go to standard output: give a file for --png or --svg.")
        }
        if [png, svg].contains("-"), options.json {
            throw ValidationError("--json writes to standard output: give files for --png and --svg.")
        }
    }

    func run() async throws {
        let context = try Context(sharedOptions)
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

    /// Checks the terminal's width. A code whose lines wrap cannot be scanned.
    private func checkWidth(_ drawing: String) throws(CommandFailure) {
        let width = drawing.prefix { $0 != "\n" }.count
        guard let columns = TerminalSize.columnsOfOutput, width > columns else { return }
        throw CommandFailure(
            .usage,
            message:
                "The code is \(width) columns wide, but the terminal has only \(columns). Make the terminal wider, or write the code to "
                + "a file with --svg or --png.")
    }

    /// Returns the code's text and the board's name.
    private func payload(_ context: Context) throws -> (Secret, String) {
        if let code {
            let bytes = try QRText.bytes(code, context.output)
            do throws(BoardError) {
                return (Secret(bytes), try QRPayload(bytes).name)
            } catch {
                throw CommandFailure(.badData, reason: "bad_qr_code", message: error.message)
            }
        }
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: pop, file: popFile, fromStandardInput: popStdin,
            environmentVariable: .proofOfPossession,
            ifThereIsNone: "If the board has no proof of possession, omit this option.")
        let proof = try source.read(environment: context.environment, output: context.output)
        let name = deviceName ?? ""
        do throws(BoardError) {
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

/// A file that the user names for secret data.
enum PrivateOutputFile {
    /// Replaces the file; only its owner can read it. Throws `cannot_write`.
    static func write(_ bytes: [UInt8], to path: String, name: String) throws(CommandFailure) {
        func failure() -> CommandFailure {
            CommandFailure(
                .cannotWrite,
                message: "The \(name) cannot be written to \(path.onOneLine): \(writeProblem(errno, at: path)).")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        // A device or pipe keeps its permissions. A file must not be readable by others.
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else { throw failure() }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
    }
}

/// Reads QR codes from a picture.
struct QRRead: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "read",
        abstract: "Read the QR codes in a picture, such as a photo or a screenshot.",
        discussion: """
            Example: rainctl qr read photo.jpg | rainctl provision --qrcode - --ssid Home
                     ffmpeg -i /dev/video0 -frames:v 1 a.jpg && rainctl qr read a.jpg

            rainctl prints the text of each code unchanged, on a line of its own. The text contains the proof of possession. To let \
            another command read a picture directly, give the picture to --qrcode.
            """)

    @Argument(
        help: ArgumentHelp(
            "A PNG or JPEG file, an https address of such a file, or - for standard input. An http address must be in your own network.",
            valueName: "picture"),
        completion: .file(extensions: ["png", "jpg", "jpeg"]))
    var picture: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let isAddress = ["https://", "http://"].contains { picture.lowercased().hasPrefix($0) }
        // A file with that name takes precedence over text.
        if access(picture, F_OK) != 0, picture.hasPrefix("{") || (try? QRPayload(Array(picture.utf8))) != nil {
            throw CommandFailure(
                .badData, reason: "bad_picture",
                message: "This is a code's text, not a picture. Draw it with rainctl qr show, or pass it to --qrcode.")
        }
        let bytes = isAddress ? try await fetched(context) : try QRText.content(picture, within: timeout.duration)
        do throws(QRCodeError) {
            context.output.result(QRReadResult(try QRScanner.payloads(inPicture: bytes)))
        } catch {
            throw CommandFailure(error, of: bytes, from: picture)
        }
    }

    private func fetched(_ context: Context) async throws -> [UInt8] {
        do throws(AccountError) { try PictureAddress.check(picture) } catch { throw CommandFailure(error) }
        var request = HTTPRequest(
            method: .get, url: picture, deadline: timeout.duration, maximumResponseBytes: QRScanner.maximumBytes)
        request.headers = [HTTPHeader("User-Agent", "RainKit")]
        let response: HTTPResponse
        do throws(HTTPError) {
            let http = LoggedHTTPClient(context.tools.http(context.options.caFile), context.logger)
            response = try await http.send(request)
        } catch {
            throw CommandFailure(AccountError(error))
        }
        if [401, 403].contains(response.status) {
            throw CommandFailure(
                .badData, reason: "no_picture",
                message:
                    "The server requires a user name and a password for the picture (HTTP \(response.status)). Save the picture "
                    + "to a file, and read that file.")
        }
        guard response.status == 200 else {
            throw CommandFailure(
                .badData, reason: "no_picture",
                message: "There is no picture at that address: the server answered with HTTP \(response.status).")
        }
        return response.body
    }
}

/// A code that was drawn. The document has no secrets.
struct QRShowResult: CommandResult {
    let name: String
    let png: String?
    let svg: String?
    /// The number of modules on each side, without the quiet zone.
    let modules: Int
    @TextOnly var drawing: String? = nil

    var text: String { drawing ?? "" }
}

/// The text of the codes in a picture.
struct QRReadResult: CommandResult {
    struct Entry: Encodable, Sendable {
        let payload: String
        /// The name in a board's code.
        let name: String?
        let transport: String?
        let username: String?
        let security: Int?
    }

    let codes: [Entry]

    init(_ payloads: [[UInt8]]) {
        codes = payloads.map { bytes in
            let board = try? QRPayload(bytes)
            return Entry(
                payload: String(decoding: bytes, as: UTF8.self), name: board?.name,
                transport: board?.transport?.rawValue, username: board?.username, security: board?.securityVersion)
        }
    }

    var text: String { codes.map(\.payload.withoutControls).joined(separator: "\n") }
}
