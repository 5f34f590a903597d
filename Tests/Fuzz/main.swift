// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainJSON
import RainKit
import RainMaker
import RainQRCode

// Feeds a parser of external input from libFuzzer: fuzz SUBJECT [libFuzzer's options] [CORPUS…]. `scripts/fuzz` builds it with the address
// sanitizer. Without a subject it names them all.

private let subjects: [(name: String, accept: @Sendable ([UInt8]) -> Void)] = [
    ("qr-pictures", { _ = try? QRScanner.payloads(inPicture: $0) }),
    ("qr-texts", { _ = try? QRPayload($0) }),
    (
        "boot-logs",
        { bytes in
            var reader = DeviceLogReader()
            for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
                _ = reader.take(Array(line))
                _ = LogMask.text(Array(line))
            }
        }
    ),
    ("discovery", { bytes in _ = (try? JSONValue(parsing: bytes)).flatMap { try? ServerMetadata($0) } }),
    (
        "live-reports",
        { _ = NodeReport(MQTTMessage(topic: "node/n/params/local", payload: $0), of: [NodeID("n")]) }
    ),
    (
        "node-configurations",
        { bytes in _ = (try? JSONValue(parsing: bytes)).flatMap { NodeConfiguration($0) } }
    ),
    (
        "firmware-images",
        {
            _ = try? FirmwareImage($0, hashes: OpenSSLHashes.self)
            _ = PartitionTable($0)
        }
    ),
    ("batch-files", { _ = try? BatchFile($0) }),
]

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ accept: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private let name = CommandLine.arguments.dropFirst().first ?? ""
nonisolated(unsafe) private var accept: @Sendable ([UInt8]) -> Void = { _ in }

guard let subject = subjects.first(where: { $0.name == name }) else {
    print(subjects.map(\.name).joined(separator: "\n"))
    exit(name.isEmpty ? 0 : 64)
}
accept = subject.accept
private var count = CommandLine.argc - 1
private var arguments = CommandLine.unsafeArgv + 1
exit(
    runDriver(&count, &arguments) { bytes, count in
        accept(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    })
