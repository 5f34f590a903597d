// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension HTTPNodeMapping {
    /// The time that one call to the backend may take.
    private static let deadline = Duration.seconds(10)

    /// Sends a request with the token that the backend wants, and once more with a new one where the backend did not accept it.
    /// - Parameter secrets: what stands in the body and must not come back in an error, whatever the body calls it.
    func send(
        _ call: MappingCalls.Call, _ values: MappingValues, hiding secrets: [Secret] = []
    ) async throws(AccountError) -> MappingAnswer {
        let request = try request(call, values)
        let token = try await token(replacing: nil)
        let host = call.url.authority
        let first = try await exchange(request, token)
        guard first.status == 401, let renewed = try await self.token(replacing: token) else {
            return try read(first, request, token, host, secrets)
        }
        let rejected = token.map { [$0] } ?? []
        return try read(try await exchange(request, renewed), request, renewed, host, secrets + rejected)
    }

    func request(_ call: MappingCalls.Call, _ values: MappingValues) throws(AccountError) -> HTTPRequest {
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
        return request
    }

    func exchange(_ request: HTTPRequest, _ token: Secret?) async throws(AccountError) -> HTTPResponse {
        var request = request
        if let token { request.headers.append(HTTPHeader("Authorization", "Bearer " + token.revealString())) }
        do throws(HTTPError) { return try await http.send(request) } catch { throw AccountError(error) }
    }

    func read(
        _ response: HTTPResponse, _ request: HTTPRequest, _ token: Secret?, _ host: String, _ secrets: [Secret]
    ) throws(AccountError) -> MappingAnswer {
        try read(response, request, token, host, secrets) { $0 }
    }

    /// Returns the result of `content` for the answer. Its errors hold no secret of the request.
    /// - Parameter token: what the request carried; nil for the sign-in, which has its code in the body.
    func read<Content>(
        _ response: HTTPResponse, _ request: HTTPRequest, _ token: Secret?, _ host: String, _ secrets: [Secret],
        _ content: (MappingAnswer) throws(AccountError) -> Content
    ) throws(AccountError) -> Content {
        let provedBy: MappingAnswer.Proof =
            switch proof {
            case .providerToken: .providerToken
            case .ownToken: token == nil ? .code : .ownToken
            }
        do throws(AccountError) {
            return try content(try MappingAnswer(response, from: host, provedBy: provedBy))
        } catch {
            var error = error
            error.retryAfter = response.retryAfter
            throw error.without(RequestSecrets(request, and: secrets + (token.map { [$0] } ?? [])), in: response) {
                response throws(AccountError) in
                try content(try MappingAnswer(response, from: host, provedBy: provedBy))
            }
        }
    }
}
