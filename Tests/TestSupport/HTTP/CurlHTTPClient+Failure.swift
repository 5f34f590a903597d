// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl

extension CurlHTTPClient {
    /// The error that a request ends with; nil if it got a response.
    public func failure(_ request: HTTPRequest) async -> HTTPError? {
        do throws(HTTPError) {
            _ = try await send(request)
            return nil
        } catch {
            return error
        }
    }
}
