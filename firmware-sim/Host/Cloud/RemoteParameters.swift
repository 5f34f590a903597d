// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainJSON

/// What arrives on `params/remote`: `{"Light":{"Power":false}}`.
enum RemoteParameters {
    /// More bytes than all that the board has could need.
    static let limit = 16_384

    /// Nil for what is not a JSON object, or longer than ``limit``.
    static func parse(_ message: [UInt8]) -> JSONValue? {
        let limits = JSONLimits(maximumBytes: limit, maximumDepth: 12, maximumValues: 1024)
        guard let value = try? JSONValue(parsing: message, limits: limits), value.members != nil else { return nil }
        return value
    }
}

extension NodeParameters.Change {
    /// Devices and parameters that the board does not have, and values of other types, are left out, as firmware does.
    ///
    /// - Returns: nil for what is not a JSON object, or longer than ``RemoteParameters/limit``.
    init?(message: [UInt8]) {
        guard let value = RemoteParameters.parse(message) else { return nil }
        self.init(value)
    }

    /// The light's, of what is set.
    init(_ value: JSONValue) {
        let light = value["Light"]
        self.init(name: (light?["Name"]?.string).map { Array($0.utf8) }, isOn: light?["Power"]?.bool)
    }
}
