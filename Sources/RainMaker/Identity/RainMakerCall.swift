// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// One call of RainMaker's REST interface, before it has a host and a user.
struct RainMakerCall: Sendable {
    var method: HTTPRequest.Method
    /// Below `v1/`, its segments escaped where they need it.
    var path: String
    var query: [(name: String, value: String)]
    var body: JSONValue?
    /// The two calls that exist beside the versions, `apiversions` and `mqtt_host`, have no `v1/`.
    var isVersioned = true

    /// The time that one call to the cloud may take.
    static let deadline = Duration.seconds(10)
    var deadline = Self.deadline
    /// Is told how many bytes of the body have been sent.
    var uploadProgress: (@Sendable (Int) -> Void)?

    init(
        _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }

    /// The same call by the name that it had at first. Deployments may have only that (ESP32-C3 book, "Account Login": `POST /v1/login`,
    /// `GET /v1/user`). Nil for a call that has had one name only.
    var firstVersion: RainMakerCall? {
        guard Self.renamed.contains(path) else { return nil }
        var call = self
        call.path.removeLast()
        return call
    }

    private static let renamed: Set<String> = ["login2", "logout2", "user2", "password2", "forgotpassword2"]

    func request(to deployment: Deployment) -> HTTPRequest {
        request(below: deployment.base.text + (isVersioned ? "/v1/" : "/"))
    }

    /// - Parameter root: ends with a slash.
    func request(below root: String) -> HTTPRequest {
        var url = root + path
        if !query.isEmpty {
            url += "?" + query.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
        }
        var headers = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]
        if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        var request = HTTPRequest(
            method: method, url: url, headers: headers, body: body?.serialized() ?? [], deadline: deadline,
            maximumResponseBytes: Self.maximumResponseBytes)
        request.uploadProgress = uploadProgress
        return request
    }

    /// A page of nodes with all details is some hundred kilobytes.
    private static let maximumResponseBytes = 4 << 20
}
