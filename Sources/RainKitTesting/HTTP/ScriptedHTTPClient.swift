// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import Synchronization

/// An HTTP client that follows a script: each request must be the next expected one, and gets its scripted answer.
///
/// An unexpected request is refused with `invalidRequest` and recorded. ``finish()`` throws if there was one, or if an expected request
/// never came. So no request is sent that a test did not expect.
public final class ScriptedHTTPClient: HTTPClient {
    /// The server's reaction to a request: it answers, waits, or fails.
    public typealias Answer = @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// The requests that were not in the script, or the first scripted request that never came.
    public struct ScriptError: Error, CustomStringConvertible {
        public let description: String
    }

    private struct Expectation: Sendable {
        var method: HTTPRequest.Method
        var target: String
        var answer: Answer
    }

    private struct State {
        var expected: [Expectation] = []
        var unordered: [Expectation] = []
        var requests: [HTTPRequest] = []
        var unexpected: [String] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Adds a request to the script.
    /// - Parameter target: the exact path and query.
    public func expect(_ method: HTTPRequest.Method, _ target: String, answer: @escaping Answer) {
        state.withLock { $0.expected.append(Expectation(method: method, target: target, answer: answer)) }
    }

    /// Adds a request that may come at any time, once.
    public func expect(unordered method: HTTPRequest.Method, _ target: String, answer: @escaping Answer) {
        state.withLock { $0.unordered.append(Expectation(method: method, target: target, answer: answer)) }
    }

    /// Adds a request that is answered with a JSON body.
    public func expect(_ method: HTTPRequest.Method, _ target: String, status: Int = 200, _ body: String) {
        let response = HTTPResponse(
            status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(body.utf8))
        expect(method, target) { _ in response }
    }

    /// Adds a request that fails before there is an answer, as on a broken network.
    public func expect(_ method: HTTPRequest.Method, _ target: String, failure code: HTTPError.Code) {
        expect(method, target) { request throws(HTTPError) in
            throw HTTPError(code, host: "scripted", message: "a scripted fault")
        }
    }

    /// All requests so far, including the unexpected ones.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let answer: Answer? = state.withLock { state in
            state.requests.append(request)
            let target = target(of: request.url)
            let matches = { (next: Expectation) in next.method == request.method && next.target == target }
            if let index = state.unordered.firstIndex(where: matches) {
                return state.unordered.remove(at: index).answer
            }
            guard let next = state.expected.first, matches(next) else {
                state.unexpected.append("\(request.method.rawValue) \(target)")
                return nil
            }
            state.expected.removeFirst()
            return next.answer
        }
        guard let answer else {
            throw HTTPError(
                .invalidRequest, host: "scripted", message: "unexpected \(request.method.rawValue) \(request.url)")
        }
        return try await answer(request)
    }

    /// Throws if the script was not followed. Call it at the end of a test.
    public func finish() throws(ScriptError) {
        let (expected, unexpected) = state.withLock { ($0.expected + $0.unordered, $0.unexpected) }
        if !unexpected.isEmpty { throw ScriptError(description: "unexpected: \(unexpected.joined(separator: ", "))") }
        if let missing = expected.first {
            throw ScriptError(description: "never sent: \(missing.method.rawValue) \(missing.target)")
        }
    }
}

private func target(of url: String) -> String {
    guard let scheme = url.ranges(of: "://").first else { return url }
    let rest = url[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
}
