import ArgumentParser
import RainJSON
import RainKit

struct DeviceScan: DeviceCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "List the networks that a board hears, strongest first.",
        discussion: "Example: rainctl device scan --transport softap --pop-file pop.txt")

    @OptionGroup var device: DeviceOptions
    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))
    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let (found, output) = try await withBoard { board in
            _ = try await board.identify()
            try await board.secure()
            return try await board.scan()
        }
        let networks = found.map { point in
            JSONValue.object([
                .init("ssid", .string(point.ssid.description)), .init("ssid_hex", .string(point.ssid.hex)),
                .init("bssid", .string(address(point.bssid))), .init("channel", .integer(Int64(point.channel))),
                .init("rssi", .integer(Int64(point.rssi))), .init("auth", .string(point.protection.description)),
            ])
        }
        let lines = found.map { point in
            let name = point.ssid.bytes.isEmpty ? "(hidden)" : point.ssid.description
            return "\(point.rssi) dBm  ch \(point.channel)  \(address(point.bssid))  \(point.protection)  \(name)"
        }
        output.result([.init("networks", .array(networks))], text: lines.joined(separator: "\n"))
    }

    private func address(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
