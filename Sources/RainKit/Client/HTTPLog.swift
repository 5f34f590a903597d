// SPDX-License-Identifier: Apache-2.0
import Logging
import RainAccount
import RainCore
import RainHTTP
import RainIO

/// An HTTP client that logs each exchange of another one.
///
/// At `debug` a line has the method, the address, the status, the sizes in bytes and the time in milliseconds. At `trace` there is also a
/// line when a request begins, with its headers, and one with the headers of the answer. Bodies are never logged. Addresses and headers
/// are logged without their secrets (``LoggedAddress``, ``LoggedHeaders``).
package struct LoggedHTTPClient: HTTPClient {
    private let client: any HTTPClient
    private let logger: Logger

    package init(_ client: any HTTPClient, _ logger: Logger) { (self.client, self.logger) = (client, logger) }

    package func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard logger.logLevel <= .debug else { return try await client.send(request) }
        let secrets = RequestSecrets(request)
        let place: Logger.Metadata = [
            "method": "\(request.method.rawValue)", "url": "\(secrets.removed(from: LoggedAddress.text(request.url)))",
        ]
        logger.trace("HTTP request", metadata: place.adding(["headers": LoggedHeaders.list(request.headers, secrets)]))
        let start = ContinuousClock.now
        do throws(HTTPError) {
            let response = try await client.send(request)
            var outcome: Logger.Metadata = [
                "status": .stringConvertible(response.status), "sent": .stringConvertible(request.body.count),
                "bytes": .stringConvertible(response.body.count),
                "ms": .stringConvertible(start.milliseconds),
            ]
            if response.attempts > 1 { outcome["attempts"] = "\(response.attempts)" }
            logger.debug("HTTP response", metadata: place.adding(outcome))
            logger.trace(
                "HTTP response headers",
                metadata: place.adding(["headers": LoggedHeaders.list(response.headers, secrets)]))
            return response
        } catch {
            logger.debug(
                "HTTP request failed",
                metadata: place.adding([
                    "cause": "\(error.code)", "message": "\(secrets.removed(from: error.message))",
                    "ms": .stringConvertible(start.milliseconds),
                ]))
            throw error
        }
    }

    package func close(kept name: String) async { await client.close(kept: name) }
}

/// Logs each connection that is opened for live changes: its host and the time in milliseconds.
struct LoggedStreamOpener: StreamOpener {
    let opener: any StreamOpener
    let logger: Logger

    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream {
        let start = ContinuousClock.now
        // The address of a broker holds credentials in its query.
        let address = LoggedAddress.text(url)
        do throws(ByteStreamError) {
            let stream = try await opener.open(url, within: limit)
            logger.debug(
                "connection opened", metadata: ["url": "\(address)", "ms": .stringConvertible(start.milliseconds)])
            return stream
        } catch {
            logger.debug(
                "connection failed",
                metadata: ["url": "\(address)", "cause": "\(error.code)", "ms": .stringConvertible(start.milliseconds)])
            throw error
        }
    }
}

extension RainKitTools {
    /// Returns the same tools, whose exchanges with servers are logged. Tools that already log are not changed.
    func logging(to logger: Logger) -> RainKitTools {
        var tools = self
        let (http, connections) = (http, connections)
        tools.http = { authorities in
            let client = http(authorities)
            return client is LoggedHTTPClient ? client : LoggedHTTPClient(client, logger)
        }
        tools.connections = { authorities in
            let opener = connections(authorities)
            return opener is LoggedStreamOpener ? opener : LoggedStreamOpener(opener: opener, logger: logger)
        }
        return tools
    }
}

/// An address as a log shows it.
///
/// The user name and password before the host are omitted, like session ids in the path (`;jsessionid=`). In the query, each value is
/// replaced by `…`, unless its name is known to carry no secret: a server's own names may carry anything.
enum LoggedAddress {
    private static let harmless: Set<String> = [
        "custom_data", "group_id", "groups", "logout_all", "node_details", "node_id", "nodes", "primary_user",
        "request",
        "request_id", "start_id", "start_request_id", "sub_groups",
    ]

    static func text(_ url: String) -> String {
        let withoutFragment = url.prefix { $0 != "#" }
        let end = withoutFragment.firstIndex(of: "?") ?? withoutFragment.endIndex
        let place = ShownText.withoutUserInfo(String(withoutFragment[..<end]))
        let path = place.split(separator: "/", omittingEmptySubsequences: false).map { $0.prefix { $0 != ";" } }
            .joined(separator: "/")
        guard end < withoutFragment.endIndex else { return path }
        let query = withoutFragment[withoutFragment.index(after: end)...].split(separator: "&").map { entry in
            let name = entry.prefix { $0 != "=" }
            // Without a name, the entry itself may be a secret.
            guard name.endIndex < entry.endIndex else { return "…" }
            return harmless.contains(String(name)) ? String(entry) : "\(name)=…"
        }
        return "\(path)?\(query.joined(separator: "&"))"
    }
}

/// Headers as a log shows them: all names, and the values of those that carry no secret.
enum LoggedHeaders {
    private static let harmless: Set<String> = [
        "accept", "age", "allow", "cache-control", "connection", "content-encoding", "content-length", "content-type",
        "date", "host", "retry-after", "server", "transfer-encoding", "user-agent", "vary", "via", "x-amz-apigw-id",
        "x-amzn-errortype", "x-amzn-requestid", "x-amzn-trace-id", "x-cache",
    ]

    fileprivate static func list(_ headers: [HTTPHeader], _ secrets: RequestSecrets) -> Logger.MetadataValue {
        .array(
            headers.map { header in
                let isHarmless = harmless.contains(header.name.lowercased())
                return "\(header.name): \(isHarmless ? secrets.removed(from: header.value) : "…")"
            })
    }
}

extension Logger.Metadata {
    fileprivate func adding(_ more: Logger.Metadata) -> Logger.Metadata { merging(more) { $1 } }
}

extension ContinuousClock.Instant {
    /// The whole milliseconds since this moment.
    fileprivate var milliseconds: Int { Int(duration(to: .now) / .milliseconds(1)) }
}
