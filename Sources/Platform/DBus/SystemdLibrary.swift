// SPDX-License-Identifier: Apache-2.0
import Glibc

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
    static let shared = SystemdLibrary()

    static func load() throws(DBusError) -> SystemdLibrary {
        guard let shared else {
            throw DBusError(
                .unavailable,
                message: "D-Bus cannot be reached: libsystemd.so.0 is missing (Debian's package is libsystemd0).")
        }
        return shared
    }

    private init?() {
        guard let library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL) else { return nil }
        var isComplete = true
        func function<Signature>(_ name: String) -> Signature {
            let found = dlsym(library, "sd_bus_" + name)
            if found == nil { isComplete = false }
            return unsafeBitCast(found ?? library, to: Signature.self)
        }
        newBus = function("new")
        setAddress = function("set_address")
        setBusClient = function("set_bus_client")
        start = function("start")
        isReady = function("is_ready")
        close = function("close")
        unref = function("unref")
        uniqueName = function("get_unique_name")
        descriptor = function("get_fd")
        events = function("get_events")
        timeout = function("get_timeout")
        process = function("process")
        flush = function("flush")
        send = function("send")
        newCall = function("message_new_method_call")
        newSignal = function("message_new_signal")
        newReturn = function("message_new_method_return")
        newError = function("message_new_method_error")
        setDestination = function("message_set_destination")
        setExpectsReply = function("message_set_expect_reply")
        ref = function("message_ref")
        unrefMessage = function("message_unref")
        kind = function("message_get_type")
        cookie = function("message_get_cookie")
        replyCookie = function("message_get_reply_cookie")
        expectsReply = function("message_get_expect_reply")
        path = function("message_get_path")
        interface = function("message_get_interface")
        member = function("message_get_member")
        destination = function("message_get_destination")
        sender = function("message_get_sender")
        error = function("message_get_error")
        appendBasic = function("message_append_basic")
        appendArray = function("message_append_array")
        openContainer = function("message_open_container")
        closeContainer = function("message_close_container")
        readBasic = function("message_read_basic")
        readArray = function("message_read_array")
        enterContainer = function("message_enter_container")
        exitContainer = function("message_exit_container")
        peekType = function("message_peek_type")
        guard isComplete else { return nil }
    }
}
