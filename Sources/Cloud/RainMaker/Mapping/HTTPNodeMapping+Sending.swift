// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension HTTPNodeMapping {
    /// The time that one call to the backend may take.
    private static let deadline = Duration.seconds(10)

    /// Sends a request with the session's token, and once more with a new one where the backend did not accept it.
    /// - Parameter secrets: what stands in the body and must not come back in an error, whatever the body calls it.
    func send(
        _ call: MappingCalls.Call, _ values: MappingValues, hiding secrets: [Secret] = []
    ) async throws(AccountError) -> MappingAnswer {
        var values = values
        values[.userID] = .string(user.rawValue)
        var request = HTTPRequest(
            method: call.method, url: try call.url.filled(with: values),
            headers: [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")],
            deadline: Self.deadline, maximumResponseBytes: MappingAnswer.limits.maximumBytes)
        if let body = call.body {
            request.headers.append(HTTPHeader("Content-Type", "application/json"))
            request.body = body.filled(with: values).serialized()
        }
        let token = try await session.bearerToken()
        let host = call.url.authority
        let first = try await exchange(request, token, host)
        guard first.status == 401, let renewed = try await session.bearerToken(replacing: token) else {
            return try read(first, request, token, host, secrets)
        }
        return try read(try await exchange(request, renewed, host), request, renewed, host, secrets + [token])
    }

    private func exchange(
        _ request: HTTPRequest, _ token: Secret, _ host: String
    ) async throws(AccountError) -> HTTPResponse {
        var request = request
        request.headers.append(HTTPHeader("Authorization", "Bearer " + token.revealString()))
        do throws(HTTPError) { return try await http.send(request) } catch { throw AccountError(error) }
    }

    private func read(
        _ response: HTTPResponse, _ request: HTTPRequest, _ token: Secret, _ host: String, _ secrets: [Secret]
    ) throws(AccountError) -> MappingAnswer {
        do throws(AccountError) {
            return try MappingAnswer(response, from: host)
        } catch {
            var error = error
            error.retryAfter = response.retryAfter
            throw error.without(RequestSecrets(request, and: secrets + [token]), in: response) {
                response throws(AccountError) in
                try MappingAnswer(response, from: host)
            }
        }
    }
}
