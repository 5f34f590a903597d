// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How a board is claimed in its place.
struct HostClaimOptions: ParsableArguments {
    @Flag(help: "Claim over the cable in the board's place, and write the certificate into its flash.")
    var host = false

    @Option(
        help: ArgumentHelp(
            "Where the credentials go; read from the board's partition table if not given.", valueName: "address"))
    var flashAddress: String?

    @Option(help: ArgumentHelp("The board's MAC address, in the place of what its boot loader says.", valueName: "mac"))
    var mac: String?

    @Option(
        help: ArgumentHelp(
            "Write the image into this new file, and nothing into the board. With --mac no board is needed.",
            valueName: "file"), completion: .file())
    var image: String?

    @Option(help: ArgumentHelp("The Python that has esptool and esp-idf-nvs-partition-gen.", valueName: "program"))
    var python = "python3"

    func check(with device: DeviceOptions) throws {
        guard host else {
            if flashAddress != nil || mac != nil || image != nil {
                throw ValidationError("--flash-address, --mac and --image go with --host.")
            }
            return
        }
        let isElsewhere = device.place.keys.contains { $0 != "port" } || device.qrcode != nil
        if isElsewhere || !["serial", nil].contains(device.transport.scheme) {
            throw ValidationError("--host claims over a cable: give --port, and no other way to a board.")
        }
        if flashAddress != nil, address == nil {
            throw ValidationError("--flash-address is a number of 4096-byte sectors, such as 0x340000.")
        }
        if mac != nil, macAddress == nil { throw ValidationError("--mac has twelve hexadecimal digits: 7CDFA1000042.") }
    }

    func request(at port: String?) -> HostClaim.Request {
        HostClaim.Request(port: port, mac: macAddress, flashAddress: address, image: image)
    }

    /// Flash is erased by the sector.
    private var address: UInt32? {
        guard let flashAddress else { return nil }
        let isHexadecimal = flashAddress.lowercased().hasPrefix("0x")
        let number = UInt32(
            isHexadecimal ? flashAddress.dropFirst(2) : flashAddress[...], radix: isHexadecimal ? 16 : 10)
        return number.flatMap { $0 % 4096 == 0 ? $0 : nil }
    }

    /// As claim services write it.
    private var macAddress: String? {
        guard let mac else { return nil }
        let digits = mac.filter { $0 != ":" && $0 != "-" }.uppercased()
        return digits.utf8.count == 12 && digits.allSatisfy(\.isHexDigit) ? digits : nil
    }
}
