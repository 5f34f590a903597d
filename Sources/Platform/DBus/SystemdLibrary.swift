// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The functions of sd-bus (libsystemd 221 and later) that this module uses. They are found at run time, so programs start where it is not
/// installed, and do not load it if they use no bus.
///
/// sd-bus only transports and marshals; this module does matching, objects and replies. A bus and its messages belong to one thread at a
/// time. Names and signatures are those of sd-bus(3).
struct SystemdLibrary: @unchecked Sendable {
    /// An `sd_bus` or an `sd_bus_message`.
    typealias Object = OpaquePointer
    typealias Text = UnsafePointer<CChar>

    /// `sd_bus_error`, whose layout is public.
    struct ErrorText {
        var name: Text?
        var message: Text?
        var needsFree: Int32 = 0
    }

    let newBus: @convention(c) (UnsafeMutablePointer<Object?>) -> Int32
    let setAddress: @convention(c) (Object, Text) -> Int32
    let setBusClient: @convention(c) (Object, Int32) -> Int32
    let start: @convention(c) (Object) -> Int32
    let isReady: @convention(c) (Object) -> Int32
    let close: @convention(c) (Object) -> Void
    let unref: @convention(c) (Object) -> Object?
    let uniqueName: @convention(c) (Object, UnsafeMutablePointer<Text?>) -> Int32
    let descriptor: @convention(c) (Object) -> Int32
    let events: @convention(c) (Object) -> Int32
    let timeout: @convention(c) (Object, UnsafeMutablePointer<UInt64>) -> Int32
    let process: @convention(c) (Object, UnsafeMutablePointer<Object?>) -> Int32
    let flush: @convention(c) (Object) -> Int32
    let send: @convention(c) (Object, Object, UnsafeMutablePointer<UInt64>?) -> Int32

    let newCall: @convention(c) (Object, UnsafeMutablePointer<Object?>, Text?, Text, Text?, Text) -> Int32
    let newSignal: @convention(c) (Object, UnsafeMutablePointer<Object?>, Text, Text, Text) -> Int32
    let newReturn: @convention(c) (Object, UnsafeMutablePointer<Object?>) -> Int32
    let newError: @convention(c) (Object, UnsafeMutablePointer<Object?>, UnsafeRawPointer) -> Int32
    let setDestination: @convention(c) (Object, Text) -> Int32
    let setExpectsReply: @convention(c) (Object, Int32) -> Int32
    let ref: @convention(c) (Object) -> Object?
    let unrefMessage: @convention(c) (Object) -> Object?

    let kind: @convention(c) (Object, UnsafeMutablePointer<UInt8>) -> Int32
    let cookie: @convention(c) (Object, UnsafeMutablePointer<UInt64>) -> Int32
    let replyCookie: @convention(c) (Object, UnsafeMutablePointer<UInt64>) -> Int32
    let expectsReply: @convention(c) (Object) -> Int32
    let path: @convention(c) (Object) -> Text?
    let interface: @convention(c) (Object) -> Text?
    let member: @convention(c) (Object) -> Text?
    let destination: @convention(c) (Object) -> Text?
    let sender: @convention(c) (Object) -> Text?
    let error: @convention(c) (Object) -> UnsafeRawPointer?

    let appendBasic: @convention(c) (Object, CChar, UnsafeRawPointer?) -> Int32
    let appendArray: @convention(c) (Object, CChar, UnsafeRawPointer?, Int) -> Int32
    let openContainer: @convention(c) (Object, CChar, Text?) -> Int32
    let closeContainer: @convention(c) (Object) -> Int32
    let readBasic: @convention(c) (Object, CChar, UnsafeMutableRawPointer) -> Int32
    let readArray:
        @convention(c) (
            Object, CChar, UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>
        ) -> Int32
    let enterContainer: @convention(c) (Object, CChar, Text?) -> Int32
    let exitContainer: @convention(c) (Object) -> Int32
    let peekType: @convention(c) (Object, UnsafeMutablePointer<CChar>, UnsafeMutablePointer<Text?>) -> Int32

    /// Loaded once, at its first use.
    static let shared = try? SystemdLibrary()

    static func load() throws(DBusError) -> SystemdLibrary {
        guard let shared else {
            throw DBusError(
                .unavailable,
                message: "D-Bus cannot be reached: libsystemd.so.0 is missing (Debian's package is libsystemd0).")
        }
        return shared
    }

    private init() throws(SharedLibrary.Missing) {
        let library = try SharedLibrary("libsystemd.so.0")
        func function<Signature>(_ name: String) throws(SharedLibrary.Missing) -> Signature {
            try library.function("sd_bus_" + name)
        }
        newBus = try function("new")
        setAddress = try function("set_address")
        setBusClient = try function("set_bus_client")
        start = try function("start")
        isReady = try function("is_ready")
        close = try function("close")
        unref = try function("unref")
        uniqueName = try function("get_unique_name")
        descriptor = try function("get_fd")
        events = try function("get_events")
        timeout = try function("get_timeout")
        process = try function("process")
        flush = try function("flush")
        send = try function("send")
        newCall = try function("message_new_method_call")
        newSignal = try function("message_new_signal")
        newReturn = try function("message_new_method_return")
        newError = try function("message_new_method_error")
        setDestination = try function("message_set_destination")
        setExpectsReply = try function("message_set_expect_reply")
        ref = try function("message_ref")
        unrefMessage = try function("message_unref")
        kind = try function("message_get_type")
        cookie = try function("message_get_cookie")
        replyCookie = try function("message_get_reply_cookie")
        expectsReply = try function("message_get_expect_reply")
        path = try function("message_get_path")
        interface = try function("message_get_interface")
        member = try function("message_get_member")
        destination = try function("message_get_destination")
        sender = try function("message_get_sender")
        error = try function("message_get_error")
        appendBasic = try function("message_append_basic")
        appendArray = try function("message_append_array")
        openContainer = try function("message_open_container")
        closeContainer = try function("message_close_container")
        readBasic = try function("message_read_basic")
        readArray = try function("message_read_array")
        enterContainer = try function("message_enter_container")
        exitContainer = try function("message_exit_container")
        peekType = try function("message_peek_type")
    }
}
