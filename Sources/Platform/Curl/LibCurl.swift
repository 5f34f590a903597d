// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import RainHTTP

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
