// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainCurl
import Glibc
import RainCryptoOpenSSL
import RainHTTP

/// An HTTP client that uses libcurl. A transfer to a nearby server runs on the calling thread, which is blocked for a millisecond at most.
/// All other transfers of a client run on its own thread. The thread starts when it is needed and ends when the client is closed or
/// released.
///
/// Certificates are always verified. Proxies come from the usual environment variables, but are never used for an address of this machine
/// or of a private network, such as those of simulators and boards.
public final class CurlHTTPClient: HTTPClient {
    private let driver: CurlDriver
    private let targets = RecentTarget()

    /// Makes a client. It does not connect or start a thread before its first request.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        driver = CurlDriver(configuration)
    }

    deinit { driver.close() }

    /// Loads and starts libcurl and OpenSSL for this process, unless that was done before. Otherwise the first request does it. It takes
    /// some milliseconds on the calling thread, and other threads that need libcurl wait. A process must not call `exit` meanwhile: OpenSSL
    /// would be stopped while it starts.
    public static func prepare() { _ = loadedCurl }

    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let target = try targets.target(of: request)
        let ticket = TransferHandle()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                driver.start(
                    PendingTransfer(ticket: ticket, request: request, target: target, continuation: continuation))
            }
        } onCancel: {
            driver.cancel(ticket)
        }
        return try result.get()
    }

    public func close(kept name: String) async { driver.close(kept: name) }

    /// Ends pending requests with ``HTTPError/Code-swift.struct/cancelled``, closes all connections and ends the thread.
    public func close() { driver.close() }
}

/// The certificate authorities that a client trusts.
public struct CurlConfiguration: Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    public var certificateAuthorities: String?
    /// A folder of certificate authorities in the form that `c_rehash` makes.
    public var certificateAuthorityFolder: String?
    /// The values that tests use instead of the environment.
    package var overrides: Overrides?
    /// The setting that names the file, such as `SSL_CERT_FILE`, for messages.
    package var certificateAuthoritiesOrigin: String?

    package struct Overrides: Sendable {
        /// A proxy in the form of `https_proxy`.
        package var proxy: String?
        /// Entries in the form of CURLOPT_RESOLVE: `host:port:address`.
        package var addresses: [String]

        package init(proxy: String? = nil, addresses: [String] = []) {
            (self.proxy, self.addresses) = (proxy, addresses)
        }

        var proxySetting: ProxySetting? { proxy.map { ProxySetting($0, variable: "https_proxy") } }
    }

    /// Without a file, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` count; without those, the system's store.
    public init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
        guard certificateAuthorities == nil else { return }
        certificateAuthoritiesOrigin = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].first { environment($0) != nil }
        self.certificateAuthorities = certificateAuthoritiesOrigin.flatMap(environment)
        certificateAuthorityFolder = environment("SSL_CERT_DIR")
    }

    /// The certificate authorities that replace the system's, such as "the file /ca.pem (from SSL_CERT_FILE)"; nil for the system's.
    var givenAuthorities: String? {
        let file = certificateAuthorities.map { path in
            "the file \(path)" + (certificateAuthoritiesOrigin.map { " (from \($0))" } ?? "")
        }
        let folder = certificateAuthorityFolder.map { "the folder \($0) (from SSL_CERT_DIR)" }
        let places = [file, folder].compactMap { $0 }
        return places.isEmpty ? nil : places.joined(separator: " or in ")
    }
}

func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}

/// The bundles of operating systems are about 250 kB.
private let maximumBytes = 8 << 20

/// Returns why a PEM file of certificate authorities cannot be used, such as "contains no certificate in PEM form"; nil if OpenSSL can read
/// it.
package func certificateFileProblem(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "cannot be read: \(systemErrorText(errno))" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return "is a folder" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < maximumBytes {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return "cannot be read: \(systemErrorText(errno))" }
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    guard !bytes.isEmpty else { return "is empty" }
    guard bytes.count < maximumBytes else { return "is larger than \(maximumBytes >> 20) MiB" }
    let (count, endsDamaged) = CertificateBundle.read(bytes)
    if endsDamaged { return "contains a damaged certificate (number \(count + 1)), or ends in the middle of one" }
    guard count == 0 else { return nil }
    let content = PEMContent(bytes)
    let other = content.labels.isEmpty ? nil : content.problem(expecting: .certificate)
    return other ?? "contains no certificate in PEM form"
}

/// libcurl, opened and initialized once, which must not happen on two threads at once; nil if libcurl is missing.
nonisolated(unsafe) let loadedCurl: UnsafePointer<rk_curl_library>? = {
    // Transfers of other threads may still run when the process ends.
    OpenSSLState.keepAtExit()
    let functions = UnsafeMutablePointer<rk_curl_library>.allocate(capacity: 1)
    guard rk_curl_open(functions), functions.pointee.global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
        return nil
    }
    return UnsafePointer(functions)
}()

/// libcurl, for code that runs after a ``RequestTarget`` was made. Each request makes one, and it requires libcurl.
var curl: UnsafePointer<rk_curl_library> { loadedCurl! }

func checkCurl() throws(HTTPError) {
    guard loadedCurl == nil else { return }
    throw HTTPError(
        .unreachable, host: "", message: "libcurl cannot be loaded (libcurl.so.4; Debian's package is libcurl4)")
}
