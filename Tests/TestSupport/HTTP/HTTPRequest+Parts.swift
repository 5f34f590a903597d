// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON

extension HTTPRequest {
    public var authorization: String? { headers.first { $0.name == "Authorization" }?.value }
    public var json: JSONValue? { try? JSONValue(parsing: body) }
}
