// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The functions of libmicrohttpd that this module uses. They are found at run time, so programs start where it is not installed.
///
/// Names and types are those of microhttpd.h.
struct MicroHTTPLibrary: @unchecked Sendable {
    /// A daemon, a connection or a response.
    typealias Object = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>
    typealias Bytes = UnsafeMutablePointer<CChar>
    typealias Header = @convention(c) (Object?, Int32, Text?, Text?) -> Int32
    typealias Reader = @convention(c) (Object?, UInt64, Bytes?, Int) -> Int
    typealias Free = @convention(c) (Object?) -> Void

    /// Called by `rk_mhd_start`.
    let start: Object
    let stop: @convention(c) (Object) -> Void
    let headers: @convention(c) (Object, Int32, Header, Object?) -> Int32
    let value: @convention(c) (Object, Int32, Text) -> Text?
    let makeResponse: @convention(c) (Int, UnsafeRawPointer?, Int32) -> Object?
    let makeStream: @convention(c) (UInt64, Int, Reader, Object?, Free) -> Object?
    let addHeader: @convention(c) (Object, Text, Text) -> Int32
    let queue: @convention(c) (Object, UInt32, Object) -> Int32
    let release: @convention(c) (Object) -> Void
    let suspend: @convention(c) (Object) -> Void
    let resume: @convention(c) (Object) -> Void

    /// `MHD_HEADER_KIND` and `MHD_GET_ARGUMENT_KIND`.
    static let headerKind: Int32 = 1
    static let argumentKind: Int32 = 8
    /// `MHD_RESPMEM_MUST_COPY`.
    static let copies: Int32 = 2
    /// `MHD_CONTENT_READER_END_OF_STREAM`.
    static let endOfStream = -1

    /// Loaded once, at its first use.
    static let shared = try? MicroHTTPLibrary()

    private init() throws(SharedLibrary.Missing) {
        let library = try SharedLibrary("libmicrohttpd.so.12")
        func function<Signature>(_ name: String) throws(SharedLibrary.Missing) -> Signature {
            try library.function("MHD_" + name)
        }
        start = try library.address("MHD_start_daemon")
        stop = try function("stop_daemon")
        headers = try function("get_connection_values")
        value = try function("lookup_connection_value")
        makeResponse = try function("create_response_from_buffer")
        makeStream = try function("create_response_from_callback")
        addHeader = try function("add_response_header")
        queue = try function("queue_response")
        release = try function("destroy_response")
        suspend = try function("suspend_connection")
        resume = try function("resume_connection")
    }
}
