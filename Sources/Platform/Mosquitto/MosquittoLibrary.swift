// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The functions of libmosquitto that this module uses. They are found at run time, so programs start where it is not installed.
///
/// Names and types are those of mosquitto.h (2.0). `bool` is one byte, as in Swift.
struct MosquittoLibrary: @unchecked Sendable {
    typealias Client = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias Context = UnsafeMutableRawPointer
    /// A list of `mosquitto_property`.
    typealias Properties = OpaquePointer
    typealias OnResult = @convention(c) (Client?, Context?, Int32) -> Void
    /// The message is a `struct mosquitto_message`.
    typealias OnMessage = @convention(c) (Client?, Context?, UnsafeRawPointer?) -> Void
    /// The packet identifier, the reason code of MQTT 5, and properties.
    typealias OnPublish = @convention(c) (Client?, Context?, Int32, Int32, UnsafeRawPointer?) -> Void
    /// The packet identifier, the number of subscriptions, and what was granted for each.
    typealias OnSubscribe = @convention(c) (Client?, Context?, Int32, Int32, UnsafePointer<Int32>?) -> Void
    typealias OnLog = @convention(c) (Client?, Context?, Int32, Text?) -> Void

    let start: @convention(c) () -> Int32
    let create: @convention(c) (Text?, Bool, Context?) -> Client?
    let destroy: @convention(c) (Client) -> Void
    let setThreaded: @convention(c) (Client, Bool) -> Int32
    let setOption: @convention(c) (Client, Int32, Int32) -> Int32
    let setUser: @convention(c) (Client, Text?, Text?) -> Int32
    let setTLS:
        @convention(c) (
            Client, Text?, Text?, Text?, Text?,
            (@convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32)?
        ) -> Int32
    let setWill: @convention(c) (Client, Text, Int32, UnsafeRawPointer?, Int32, Bool, Properties?) -> Int32
    let connect: @convention(c) (Client, Text, Int32, Int32, Text?, Properties?) -> Int32
    let disconnect: @convention(c) (Client) -> Int32
    let loop: @convention(c) (Client, Int32, Int32) -> Int32
    let publish:
        @convention(c) (Client, UnsafeMutablePointer<Int32>?, Text, Int32, UnsafeRawPointer?, Int32, Bool) -> Int32
    let subscribe: @convention(c) (Client, UnsafeMutablePointer<Int32>?, Text, Int32, Int32, Properties?) -> Int32
    let onConnect: @convention(c) (Client, OnResult?) -> Void
    let onDisconnect: @convention(c) (Client, OnResult?) -> Void
    let onMessage: @convention(c) (Client, OnMessage?) -> Void
    let onPublish: @convention(c) (Client, OnPublish?) -> Void
    let onSubscribe: @convention(c) (Client, OnSubscribe?) -> Void
    let onLog: @convention(c) (Client, OnLog?) -> Void
    let setContext: @convention(c) (Client, Context?) -> Void
    let explain: @convention(c) (Int32) -> Text?
    /// The `SSL` of the connection.
    let secureChannel: @convention(c) (Client) -> OpaquePointer?
    /// `SSL_get_verify_result` of the libssl that libmosquitto uses; nil if it uses another library for TLS.
    let verification: (@convention(c) (OpaquePointer) -> Int)?
    let addNumber: @convention(c) (UnsafeMutablePointer<Properties?>, Int32, UInt32) -> Int32
    let freeProperties: @convention(c) (UnsafeMutablePointer<Properties?>) -> Void

    /// `MOSQ_OPT_PROTOCOL_VERSION`, `MOSQ_OPT_TCP_NODELAY`, `MOSQ_OPT_TLS_USE_OS_CERTS`.
    static let protocolVersion: Int32 = 1
    static let noDelay: Int32 = 11
    static let systemCertificates: Int32 = 13
    /// `MQTT_PROTOCOL_V311` and `MQTT_PROTOCOL_V5`.
    static let version311: Int32 = 4
    static let version5: Int32 = 5
    /// `MQTT_PROP_SESSION_EXPIRY_INTERVAL`.
    static let sessionExpiry: Int32 = 17
    /// `MQTT_SUB_OPT_RETAIN_AS_PUBLISHED`.
    static let retainAsPublished: Int32 = 8
    /// `MOSQ_ERR_QOS_NOT_SUPPORTED` and `MOSQ_ERR_OVERSIZE_PACKET`: the broker has said at the start that it would refuse.
    static let noQuality: Int32 = 24
    static let tooLarge: Int32 = 25
    /// `MOSQ_LOG_ERR`.
    static let errorLog: Int32 = 8

    /// Loaded once, at its first use.
    static let shared: MosquittoLibrary? = try? MosquittoLibrary()

    private init() throws(SharedLibrary.Missing) {
        let library = try SharedLibrary("libmosquitto.so.1")
        func function<Signature>(_ name: String) throws(SharedLibrary.Missing) -> Signature {
            try library.function("mosquitto_" + name)
        }
        start = try function("lib_init")
        create = try function("new")
        destroy = try function("destroy")
        setThreaded = try function("threaded_set")
        setOption = try function("int_option")
        setUser = try function("username_pw_set")
        setTLS = try function("tls_set")
        setWill = try function("will_set_v5")
        connect = try function("connect_bind_v5")
        disconnect = try function("disconnect")
        loop = try function("loop")
        publish = try function("publish")
        subscribe = try function("subscribe_v5")
        onConnect = try function("connect_callback_set")
        onDisconnect = try function("disconnect_callback_set")
        onMessage = try function("message_callback_set")
        onPublish = try function("publish_v5_callback_set")
        onSubscribe = try function("subscribe_callback_set")
        onLog = try function("log_callback_set")
        setContext = try function("user_data_set")
        explain = try function("strerror")
        secureChannel = try function("ssl_get")
        verification = try? library.function("SSL_get_verify_result")
        addNumber = try function("property_add_int32")
        freeProperties = try function("property_free_all")
        _ = start()
    }
}
