// SPDX-License-Identifier: Apache-2.0
import RainKit

extension SSID {
    /// The name as `--ssid` takes it, byte for byte; nil for one that is no text, or that no argument can hold. Those go by
    /// `ssid_hex` and `--ssid-hex`.
    var argument: String? {
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
