// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainMosquitto
import Glibc
import Synchronization

/// The simulator's own connection to its broker. It may subscribe and publish to the topics of every node.
///
/// `@unchecked` because libmosquitto synchronises its client itself, once its thread runs.
final class BrokerConnection: @unchecked Sendable {
    typealias Handler = @Sendable (_ topic: String, _ payload: [UInt8]) -> Void

    private let client: OpaquePointer
    private let handler: Handler
    private let topics: [String]
    private let subscribed = OneTimeEvent()
    private static let library: Void = { mosquitto_lib_init() }()

    /// Connects and subscribes. All later messages of nodes are received.
    static func open(
        to address: ListenAddress, keys: KeyRing, topics: [String] = ["$aws/rules/#", "node/#"],
        handler: @escaping Handler
    ) throws(SimulatorError) -> BrokerConnection {
        _ = library
        guard let client = mosquitto_new(KeyRing.listenerName, true, nil) else {
            throw SimulatorError(
                .unavailable, "libmosquitto could not create a client: \(systemErrorText(errno))")
        }
        let connection = BrokerConnection(client: client, topics: topics, handler: handler)
        try connection.start(address, keys)
        return connection
    }

    private init(client: OpaquePointer, topics: [String], handler: @escaping Handler) {
        self.client = client
        self.topics = topics
        self.handler = handler
    }

    deinit { mosquitto_destroy(client) }

    /// Ends the thread and the connection. No message is received afterwards.
    func stop() {
        mosquitto_disconnect(client)
        mosquitto_loop_stop(client, true)
    }

    func publish(_ payload: [UInt8], to topic: String) {
        mosquitto_publish(client, nil, topic, Int32(payload.count), payload, 1, false)
    }

    private func start(_ address: ListenAddress, _ keys: KeyRing) throws(SimulatorError) {
        let identity = try keys.listener()
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client, connected)
        mosquitto_subscribe_callback_set(client, acknowledged)
        mosquitto_message_callback_set(client, received)
        let host = address.host == "0.0.0.0" ? "127.0.0.1" : address.host == "::" ? "::1" : address.host
        // The order matters: the loop's thread must run before the connection is reported.
        guard
            mosquitto_tls_set(client, keys.authorityFile, nil, identity.certificate, identity.key, nil) == successCode,
            mosquitto_connect(client, host, Int32(address.port), 30) == successCode,
            mosquitto_loop_start(client) == successCode
        else { throw SimulatorError(.unavailable, "the simulator could not connect to its own broker") }
        guard subscribed.wait(milliseconds: 10_000) else {
            stop()
            throw SimulatorError(.unavailable, "the simulator's own broker did not answer within 10 s")
        }
    }

    fileprivate func subscribe() {
        for topic in topics { mosquitto_subscribe(client, nil, topic, 1) }
    }

    fileprivate func isSubscribed() { subscribed.fire() }

    fileprivate func receive(_ message: mosquitto_message) {
        guard let topic = message.topic, message.payloadlen <= CloudAPI.maximumMessage else { return }
        let payload = message.payload.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(message.payloadlen))) }
        handler(String(cString: topic), payload ?? [])
    }
}

private let successCode = Int32(MOSQ_ERR_SUCCESS.rawValue)

// Called by libmosquitto's thread, with the connection as user data.

private func connected(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ code: Int32) {
    guard code == 0, let context else { return }
    Unmanaged<BrokerConnection>.fromOpaque(context).takeUnretainedValue().subscribe()
}

private func acknowledged(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: Int32, _: Int32, _: UnsafePointer<Int32>?
) {
    guard let context else { return }
    Unmanaged<BrokerConnection>.fromOpaque(context).takeUnretainedValue().isSubscribed()
}

private func received(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<mosquitto_message>?
) {
    guard let context, let message else { return }
    Unmanaged<BrokerConnection>.fromOpaque(context).takeUnretainedValue().receive(message.pointee)
}

/// A value that one thread sets once and another waits for.
final class OneTimeResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let done = OneTimeEvent()

    /// Sets the value. Only the first call has an effect.
    func set(_ new: Value) {
        value.withLock { value in if value == nil { value = new } }
        done.fire()
    }

    func wait(milliseconds: Int) -> Value? {
        _ = done.wait(milliseconds: milliseconds)
        return value.withLock { $0 }
    }
}

/// An event that happens once. Threads can wait for it with a deadline.
final class OneTimeEvent: @unchecked Sendable {
    // A semaphore must not move, so it is allocated separately. It is posted once, and each waiter posts it again.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func fire() { sem_post(semaphore) }

    /// Waits for the event. Returns whether it happened within that time.
    func wait(milliseconds: Int) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += milliseconds / 1000
        end.tv_nsec += milliseconds % 1000 * 1_000_000
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        while sem_timedwait(semaphore, &end) == -1 { if errno != EINTR { return false } }
        sem_post(semaphore)
        return true
    }
}
