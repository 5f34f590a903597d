// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore
import RainKit

/// The input of `--qrcode` and `qr`: a code's text, a file with it, a picture of it, or `-` for one of these on standard input.
enum QRText {
    /// Returns the text of the code unchanged.
    static func bytes(_ given: String, _ output: Output, within limit: Duration = .seconds(120)) throws -> [UInt8] {
        guard given == "-" || access(given, F_OK) == 0 || !QRPayload.mayBeCode(given) else {
            // Nobody else sees the arguments of a request to `rainctl serve`.
            if Invocation.current.request == nil, given.contains("pop") || given.hasPrefix("NP:") {
                output.warn(
                    "the QR code on the command line is visible to other users; give a file instead, or - for standard input.",
                    reason: "secret_in_arguments")
            }
            return Array(given.utf8)
        }
        if given != "-", ServedRequest.member(ofPath: given) == nil, access(given, F_OK) != 0, errno == ENOENT,
            let message = QRPayload.messageForNeither(given)
        {
            throw CommandFailure(.badData, reason: "bad_qr_code", message: message)
        }
        let bytes = try content(given, within: limit)
        if QRScanner.otherFormat(bytes) != nil {
            throw CommandFailure(
                .badData, reason: "bad_picture", message: QRScanner.fault(bytes, of: Payload.subject(given)))
        }
        let place = given == "-" ? "standard input" : given.onOneLine
        guard QRScanner.isPicture(bytes) else {
            let isNamedAsPicture = [".png", ".jpg", ".jpeg"].contains { given.lowercased().hasSuffix($0) }
            if isNamedAsPicture, (try? QRPayload(bytes)) == nil {
                throw CommandFailure(
                    .badData, reason: "bad_picture",
                    message: "\(place) is named like a picture, but is not a picture: \(Self.content(of: bytes)).")
            }
            do throws(FileText.Fault) {
                let text = try FileText.document(bytes)
                // JSON in a code's text may have several lines. Any other text has one line.
                let isJSON = text.first { !$0.isWhiteSpace } == UInt8(ascii: "{")
                return isJSON ? text : Array(try FileText.secret(text[...]))
            } catch {
                throw CommandFailure(
                    .badData, reason: "bad_qr_code",
                    message: "The QR code's text cannot be read from \(place): \(error).")
            }
        }
        let codes: [[UInt8]]
        do throws(QRCodeError) {
            codes = try QRScanner.payloads(inPicture: bytes)
        } catch {
            throw CommandFailure(error, of: bytes, from: given)
        }
        let boards = codes.filter { (try? QRPayload($0)) != nil }
        guard let board = boards.first else { return codes[0] }
        guard boards.count == 1 else {
            throw CommandFailure(
                .badData, reason: "several_qr_codes",
                message:
                    "The picture in \(place) has the codes of \(boards.count) boards: cut out the code that you want.")
        }
        return board
    }

    /// Describes a file that is named like a picture but is not one.
    private static func content(of bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "the file is empty" }
        let isText = (try? FileText.document(bytes)) != nil
        return isText ? "the file has text, but not a board's QR code" : "the file has other data"
    }

    /// Reads a file or standard input, byte for byte.
    static func content(_ path: String, within limit: Duration) throws(CommandFailure) -> [UInt8] {
        guard !path.isEmpty else {
            throw CommandFailure(
                .usage,
                message:
                    "The given QR code is empty: give its text, a file, a picture, or - for standard input.")
        }
        return path == "-"
            ? try SecretSource.standardInput(
                name: "QR code", maximumBytes: QRScanner.maximumBytes, isExact: true, within: limit
            ).revealBytes()
            : try SecretSource.contents(
                of: path, name: "QR code", maximumBytes: QRScanner.maximumBytes, isExact: true, within: limit
            ).revealBytes()
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { [0x09, 0x0A, 0x0D, 0x20].contains(self) }
}

extension CommandFailure {
    /// - Parameters:
    ///   - picture: the contents of the file.
    ///   - file: the file as it was given, or an address; `-` is standard input.
    init(_ error: QRCodeError, of picture: [UInt8] = [], from file: String = "-") {
        let place = file == "-" ? "standard input" : file.onOneLine
        switch error.code {
        case .libraryMissing:
            let package = error.package ?? "its library"
            self.init(
                .unavailable, reason: "no_library",
                message:
                    "The library of the package \(package) is not installed. To install it, run: sudo apt install \(package)"
            )
        case .unsuitableLength:
            self.init(.badData, reason: "bad_qr_code", message: "The text is empty, or too long for a QR code.")
        case .unreadableImage:
            self.init(.badData, reason: "bad_picture", message: QRScanner.fault(picture, of: Payload.subject(file)))
        case .imageTooLarge:
            self.init(
                .badData, reason: "bad_picture",
                message: "The picture in \(place) is too large: scale it down, or cut out the code.")
        case .noCode:
            self.init(
                .badData, reason: "no_qr_code",
                message:
                    "No QR code was found in \(place): take the picture from nearby, from the front, and in even light."
            )
        case .failed: self.init(.other, message: "The QR code library has failed.")
        }
    }
}
