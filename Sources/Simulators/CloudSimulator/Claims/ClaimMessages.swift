// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A board's data, which the client relays to `claim/initiate`.
struct ClaimApplication: Equatable {
    /// Twelve upper-case hex digits.
    var macAddress: String
    var platform: String

    /// What is claimed, and `host` for a program that does so in a board's place.
    static let platforms: Set<String> = [
        "host", "esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61", "esp32h2",
        "esp32p4",
    ]

    init(_ fields: Fields) throws(ClaimRefusal) {
        let (mac, platform) = (fields.value["mac_addr"]?.string ?? "", fields.value["platform"]?.string ?? "")
        guard mac.utf8.count == 12, mac.utf8.allSatisfy({ hexDigit($0) != nil && !(0x61...0x66).contains($0) }) else {
            throw ClaimRefusal("MAC address is invalid")
        }
        guard Self.platforms.contains(platform) else { throw ClaimRefusal("Platform is invalid") }
        (macAddress, self.platform) = (mac, platform)
    }
}

/// A refusal of the claim service. It has no error codes.
struct ClaimRefusal: Error, Equatable {
    var description: String
    init(_ description: String) { self.description = description }

    var response: Response {
        Response(status: 400, ["status": "failure", "description": .string(description)])
    }
}
