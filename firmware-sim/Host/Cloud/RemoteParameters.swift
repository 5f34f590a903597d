// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainJSON

/// What arrives on `params/remote`: `{"Light":{"Power":false}}`.
enum RemoteParameters {
    /// More bytes than all that the board has could need.
    static let limit = 4096
}

extension NodeParameters.Change {
    /// Devices and parameters that the board does not have, and values of other types, are left out, as firmware does.
    ///
    /// - Returns: nil for what is not a JSON object, or longer than ``RemoteParameters/limit``.
    init?(message: [UInt8]) {
        let limits = JSONLimits(maximumBytes: RemoteParameters.limit, maximumDepth: 8, maximumValues: 256)
        guard let value = try? JSONValue(parsing: message, limits: limits), value.members != nil else { return nil }
        let light = value["Light"]
        self.init(name: (light?["Name"]?.string).map { Array($0.utf8) }, isOn: light?["Power"]?.bool)
    }
}
