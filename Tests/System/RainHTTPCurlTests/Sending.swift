// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl

extension CurlHTTPClient {
    /// The error that a request must end with; nil when it gave a response.
    func failure(_ request: HTTPRequest) async -> HTTPError? {
        do throws(HTTPError) {
            _ = try await send(request)
            return nil
        } catch {
            return error
        }
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
