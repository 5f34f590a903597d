// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// What can be wrong with a QR code, its text and its picture.
extension InjectedFault {
    static let ofCodes: [InjectedFault] = [
        code("an empty file", "empty", ""),
        code("a code that is cut off", "damaged", #"{"ver":"v1","name":"PROV_1","pop":"planted"#),
        code("a list instead of an object", "object", #"["PROV_1"]"#),
        code("a code without a board", "has no \"name\"", #"{"ver":"v1","pop":"planted","transport":"ble"}"#),
        code("an unknown version", "v9", #"{"ver":"v9","name":"PROV_1","pop":"planted","transport":"softap"}"#),
        code("an unknown transport", "zigbee", #"{"ver":"v1","name":"PROV_1","pop":"planted","transport":"zigbee"}"#),
        code("an unknown security scheme", "is 7", #"{"name":"PROV_1","pop":"planted","security":7}"#),
        code("a board that joins Thread", "thread", #"{"name":"PROV_1","pop":"planted","network":"thread"}"#),
        code("a code for a Wi-Fi network", "Wi-Fi", "WIFI:T:WPA;S:Home;P:planted;;"),
        code("a Matter code", "Matter", "MT:Y.K9042C00KA0648G00"),
        code("a HomeKit code", "HomeKit", "X-HM://0023ISYWY1CJ8"),
        code("a saved web page", "web page", "<!DOCTYPE html><html></html>"),
        code("a compact code without a proof of possession", "compact form is", "NP:PROV_1"),
        code("a compact code with another transport", "b (Bluetooth) or s", "NP:PROV_1|planted|z"),
        code("a file that is not text", "not text|NUL|zero", "\u{1}\0\u{2}"),
        code("a PNG that ends too early", "its end is missing", [0x89] + Array("PNG\r\n\u{1A}\n".utf8)),
        code("a JPEG that ends too early", "its end is missing", [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]),
        code("a GIF", "/code is a GIF picture", "GIF89a\u{1}\0\u{1}\0"),
        code("a photo from an iPhone", "HEIC", "\0\0\0\u{18}ftypheic"), code("a PDF", "PDF", "%PDF-1.4\n"),
        provision("QR code", "a missing picture", "No such file", proof: false, "--qrcode", "label.png"),
        command(
            "QR code", "a text with a picture's name", "is not a picture",
            files: ["label.png": "not a picture\n"],
            ["device", "info", "--qrcode", "{}/label.png"]),
        provision(
            "QR code", "a board's name instead of its code", "neither a file nor a board's QR code", proof: false,
            "--qrcode", "PROV_a1b2c3"),
        provision("QR code", "a barcode's number", "an article number", proof: false, "--qrcode", "4006381333931"),
        provision(
            "QR code", "the install code of a Zigbee device", "Zigbee", proof: false, "--qrcode",
            "Z:00124B001F8A1B2C$I:83FED3407A939723A5C639B26916D505C3B5"),
        provision(
            "QR code", "the code of another board", "is for PROV_1, but --device-name is PROV_2", proof: false,
            "--qrcode", #"{"name":"PROV_1","transport":"ble"}"#, "--device-name", "PROV_2"),
        provision(
            "QR code", "another proof of possession than the code's", "different proofs of possession",
            files: ["code": #"{"name":"PROV_1","pop":"planted-other","transport":"ble"}"#], "--qrcode", "{}/code"),
        provision("QR code", "an empty code", "is empty", proof: false, "--qrcode", ""),
        command("QR code", "an empty file name to read", "is empty", ["qr", "read", ""]),
        provision("QR code", "a folder instead of a picture", "folder", proof: false, "--qrcode", "{}"),
        command("QR code", "a missing picture to read", "No such file", ["qr", "read", "{}/label.png"]),
        command("QR code", "a code to draw without a board's name", "device-name", ["qr", "show"]),
        command(
            "QR code", "a name that is too long for a code", "name is too long",
            ["qr", "show", "--device-name", String(repeating: "P", count: 3000)]),
        command(
            "QR code", "a label in a missing folder", "none does not exist",
            ["qr", "show", "--device-name", "PROV_1", "--pop-file", "{}/pop", "--png", "{}/none/label.png"]),
        command(
            "QR code", "a negative width of a label", "'-5' is invalid for '--size",
            ["qr", "show", "--device-name", "PROV_1", "--pop-file", "{}/pop", "--svg", "{}/label.svg", "--size", "-5"]),
        command(
            "QR code", "a scale out of range", "1 to 64",
            ["qr", "show", "--device-name", "PROV_1", "--pop-file", "{}/pop", "--png", "{}/label.png", "--scale", "0"]),
    ]

    private static func code(_ name: String, _ words: String, _ text: String) -> InjectedFault {
        code(name, words, Array(text.utf8))
    }

    private static func code(_ name: String, _ words: String, _ bytes: [UInt8]) -> InjectedFault {
        InjectedFault("QR code", name, words) { lab in
            lab.folder.writePrivately(bytes, to: "code")
            return try await lab.provision(["--qrcode", lab.folder.file("code")], pop: nil)
        }
    }
}
