// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// Reads QR codes out of a picture.
struct QRRead: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Read the QR codes in a picture: a photo, a screenshot, a frame of a camera.",
        discussion: """
            Example: rainctl qr read photo.jpg | rainctl provision --qrcode - --ssid Home
                     ffmpeg -i /dev/video0 -frames:v 1 a.jpg && rainctl qr read a.jpg

            What the codes say is printed as it is, a line each: the proof of possession, too. provision, and every other command with --qrcode, \
            takes the picture itself as well.
            """)

    @Argument(
        help: ArgumentHelp(
            "A PNG or JPEG file, an https address of one (http for a board's own camera), or - for standard input.",
            valueName: "picture"),
        completion: .file(extensions: ["png", "jpg", "jpeg"]))
    var picture: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let isAddress = ["https://", "http://"].contains { picture.lowercased().hasPrefix($0) }
        // A file of that name goes before the text.
        if access(picture, F_OK) != 0, picture.hasPrefix("{") || (try? QRPayload(Array(picture.utf8))) != nil {
            throw CommandFailure(
                .badData, reason: "bad_picture",
                message: "This is a code's text, and no picture: rainctl qr show draws it, and --qrcode takes it.")
        }
        let bytes = isAddress ? try await fetched(context) : try QRText.content(picture, within: timeout.duration)
        do throws(QRCodeError) {
            context.output.result(QRReadResult(try QRScanner.payloads(inPicture: bytes)))
        } catch {
            throw CommandFailure(error, of: bytes)
        }
    }

    private func fetched(_ context: Context) async throws -> [UInt8] {
        do throws(AccountError) { try PictureAddress.check(picture) } catch { throw CommandFailure(error) }
        var request = HTTPRequest(
            method: .get, url: picture, deadline: timeout.duration, maximumResponseBytes: QRScanner.maximumBytes)
        request.headers = [HTTPHeader("User-Agent", "RainKit")]
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await RainKitTools().http(context.options.caFile).send(request)
        } catch {
            throw CommandFailure(AccountError(error))
        }
        guard response.status == 200 else {
            throw CommandFailure(
                .badData, reason: "no_picture",
                message: "There is no picture at that address: the server answered \(response.status).")
        }
        return response.body
    }
}
