// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainCryptoOpenSSL
import RainHTTP

/// HTTP by libcurl. A transfer to a server nearby runs on the calling thread, which is blocked for a millisecond at most. All other
/// transfers of one client run on one thread of its own, which starts when it is needed and ends when the client is closed or dropped.
///
/// Certificates are always verified. Proxies are taken from the usual environment variables, but never for an address of this machine or of
/// a private network, where simulators and boards are.
public final class CurlHTTPClient: HTTPClient {
    private let driver: CurlDriver
    private let targets = RecentTarget()

    /// Makes a client. It neither connects nor starts a thread before it is asked for something.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        driver = CurlDriver(configuration)
    }

    deinit { driver.close() }

    /// Loads and starts libcurl, and with it OpenSSL, for this process, if nobody has; the first request does it otherwise. It takes some
    /// milliseconds, on whatever thread it is called, and those who need it meanwhile wait. A process must not `exit` meanwhile: OpenSSL would
    /// be stopped while it starts.
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

    /// Ends what is under way with ``HTTPError/Code-swift.struct/cancelled``, closes all connections and ends the thread.
    public func close() { driver.close() }
}

/// Which certificate authorities a client trusts.
public struct CurlConfiguration: Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    public var certificateAuthorities: String?
    /// A folder of certificate authorities, as `c_rehash` makes it.
    public var certificateAuthorityFolder: String?
    /// What tests put in the place of the environment.
    package var overrides: Overrides?

    package struct Overrides: Sendable {
        /// As `https_proxy` names it.
        package var proxy: String?
        /// As CURLOPT_RESOLVE takes them: `host:port:address`.
        package var addresses: [String]

        package init(proxy: String? = nil, addresses: [String] = []) {
            (self.proxy, self.addresses) = (proxy, addresses)
        }

        var proxySetting: ProxySetting? { proxy.map { ProxySetting($0, variable: "https_proxy") } }
    }

    /// Without a file, what `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` name counts; without those, the system's store.
    public init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
        guard certificateAuthorities == nil else { return }
        self.certificateAuthorities = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
        certificateAuthorityFolder = environment("SSL_CERT_DIR")
    }
}

func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}

/// The bundles of operating systems have about 250 kB.
private let maximumBytes = 8 << 20

/// Why a PEM file of certificate authorities cannot be used, such as "holds no certificate in PEM form"; nil if OpenSSL can read it.
package func certificateFileProblem(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return "is a folder" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < maximumBytes {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    guard !bytes.isEmpty else { return "is empty" }
    guard bytes.count < maximumBytes else { return "is larger than \(maximumBytes >> 20) MiB" }
    let (count, endsDamaged) = CertificateBundle.read(bytes)
    if endsDamaged { return "holds a damaged certificate (number \(count + 1)), or ends in the middle of it" }
    return count == 0 ? "holds no certificate in PEM form" : nil
}

/// libcurl, opened and initialized once, which must not happen on two threads at once; nil where it is not there.
nonisolated(unsafe) let loadedCurl: UnsafePointer<rk_curl_library>? = {
    let functions = UnsafeMutablePointer<rk_curl_library>.allocate(capacity: 1)
    guard rk_curl_open(functions), functions.pointee.global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
        return nil
    }
    return UnsafePointer(functions)
}()

/// The same, for what comes after a ``RequestTarget``, which there is for every request, and only where libcurl is.
var curl: UnsafePointer<rk_curl_library> { loadedCurl! }

func checkCurl() throws(HTTPError) {
    guard loadedCurl == nil else { return }
    throw HTTPError(
        .unreachable, host: "", message: "libcurl cannot be loaded (libcurl.so.4; Debian's package is libcurl4)")
}
