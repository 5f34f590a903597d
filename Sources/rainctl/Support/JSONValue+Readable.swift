// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

extension JSONValue {
    /// JSON on several lines, made safe to show.
    var readable: String { ShownText.json(String(decoding: serialized(pretty: true), as: UTF8.self)) }
}
