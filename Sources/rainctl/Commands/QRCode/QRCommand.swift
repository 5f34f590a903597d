// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct QRCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr", abstract: "Draw and read the QR codes of boards.",
        subcommands: [QRShow.self, QRRead.self])
}
