// SPDX-License-Identifier: Apache-2.0
import CRainMicroHTTP
import Glibc
import RainIO
import Synchronization

/// An HTTP server for browsers of this machine or its network, on libmicrohttpd. It has one thread.
///
/// It knows nothing about who may ask: ``LocalService/admit(_:)`` decides.
package final class LocalServer: Sendable {
    /// The address with the port that it listens on.
    package let address: LocalAddress
    private let core: Core
    private let daemon: Daemon

    private struct Daemon: @unchecked Sendable { var object: MicroHTTPLibrary.Object }

    /// The maximum number of connections. A browser opens six to a server.
    package static let maximumConnections: UInt32 = 128
    /// A connection on which nothing happens ends after so many seconds. A stream that waits is not counted.
    static let idleSeconds: UInt32 = 60
    /// Memory for each connection: the headers of a request have to fit.
    static let connectionMemory = 32 << 10

    /// Starts the server.
    package init(_ wanted: LocalAddress, _ service: any LocalService) throws(LocalServerError) {
        guard let library = MicroHTTPLibrary.shared else { throw .libraryMissing }
        let (listener, port) = try wanted.listen()
        core = Core(library, service)
        let context = Unmanaged.passRetained(core)
        let started = rk_mhd_start(
            library.start, listener, Self.maximumConnections, Self.idleSeconds, Self.connectionMemory, handle,
            completed,
            context.toOpaque())
        guard let started else {
            context.release()
            close(listener)
            throw .failed
        }
        address = LocalAddress(host: wanted.host, port: port)
        daemon = Daemon(object: started)
    }

    /// Ends all answers, closes all connections and the socket, and waits until that is done. Call it once.
    package func stop() async {
        core.end()
        let (daemon, core) = (daemon, core)
        _ = try? await onInterruptibleThread { _ in
            core.library.stop(daemon.object)
            Unmanaged.passUnretained(core).release()
        }
    }
}

/// What the callbacks of a server share.
final class Core: Sendable {
    private struct State {
        var isEnding = false
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var streams: [ObjectIdentifier: LocalStream] = [:]
    }

    let library: MicroHTTPLibrary
    let service: any LocalService
    private let state = Mutex(State())

    init(_ library: MicroHTTPLibrary, _ service: any LocalService) {
        self.library = library
        self.service = service
    }

    /// Suspended connections must not exist when the library stops. Later ones are not suspended.
    func end() {
        let (exchanges, streams) = state.withLock { state in
            state.isEnding = true
            return (Array(state.exchanges.values), Array(state.streams.values))
        }
        for exchange in exchanges { exchange.answer(LocalResponse(503)) }
        for stream in streams { stream.finish() }
    }

    /// Returns false if the server ends.
    func add(_ exchange: Exchange) -> Bool {
        state.withLock { state in
            if !state.isEnding { state.exchanges[ObjectIdentifier(exchange)] = exchange }
            return !state.isEnding
        }
    }

    func remove(_ exchange: Exchange) { state.withLock { $0.exchanges[ObjectIdentifier(exchange)] = nil } }

    func add(_ stream: LocalStream) {
        let isEnding = state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            return state.isEnding
        }
        if isEnding { stream.finish() }
    }

    func remove(_ stream: LocalStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = nil } }
}

/// One request and its answer.
final class Exchange: @unchecked Sendable {
    private let core: Core
    private let connection: MicroHTTPLibrary.Object
    private let request: LocalRequest
    private let maximumBody: Int
    // Only the server's thread uses these.
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var hasBegun = false
    private let response = Mutex<LocalResponse?>(nil)

    init(_ core: Core, _ connection: MicroHTTPLibrary.Object, _ request: LocalRequest, maximumBody: Int) {
        (self.core, self.connection, self.request) = (core, connection, request)
        self.maximumBody = maximumBody
    }

    func take(_ bytes: UnsafePointer<CChar>, _ count: Int) {
        guard body.count + count <= maximumBody else {
            isTooLarge = true
            body = []
            return
        }
        guard !isTooLarge else { return }
        bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
            body.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// Called when the body has arrived, and again when the answer is known.
    func proceed() -> Int32 {
        if let known = response.withLock({ $0 }) { return send(known) }
        if isTooLarge { return send(LocalResponse(413)) }
        guard !hasBegun else { return 0 }
        hasBegun = true
        core.library.suspend(connection)
        // After this the answer may arrive at any time, which resumes the connection.
        guard core.add(self) else {
            answer(LocalResponse(503))
            return 1
        }
        let (core, request, body) = (core, request, body)
        self.body = []
        // The exchange is answered even if its connection is closed meanwhile: a suspended connection is not.
        Task { answer(await core.service.respond(to: request, body: body)) }
        return 1
    }

    /// Only the first answer counts.
    func answer(_ answer: LocalResponse) {
        let isFirst = response.withLock { response in
            guard response == nil else { return false }
            response = answer
            return true
        }
        guard isFirst else {
            answer.stream?.close()
            return
        }
        core.remove(self)
        core.library.resume(connection)
    }

    private func send(_ answer: LocalResponse) -> Int32 { core.send(answer, on: connection) }
}

extension Core {
    func send(_ answer: LocalResponse, on connection: MicroHTTPLibrary.Object) -> Int32 {
        let made: MicroHTTPLibrary.Object?
        if let stream = answer.stream {
            add(stream)
            let reading = Unmanaged.passRetained(Reading(self, stream, connection))
            made = library.makeStream(
                .max, 16 << 10, readStream, reading.toOpaque(), { if let it = $0 { releaseReading(it) } })
            if made == nil { releaseReading(reading.toOpaque()) }
        } else {
            made = answer.body.withUnsafeBytes {
                library.makeResponse($0.count, $0.baseAddress, MicroHTTPLibrary.copies)
            }
        }
        guard let made else { return 0 }
        defer { library.release(made) }
        for header in answer.headers { _ = library.addHeader(made, header.name, header.value) }
        return library.queue(connection, UInt32(answer.status), made)
    }
}

private final class Reading {
    let core: Core
    let stream: LocalStream
    let connection: MicroHTTPLibrary.Object

    init(_ core: Core, _ stream: LocalStream, _ connection: MicroHTTPLibrary.Object) {
        (self.core, self.stream, self.connection) = (core, stream, connection)
    }
}

private func readStream(
    _ context: UnsafeMutableRawPointer?, _: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
)
    -> Int
{
    guard let context, let buffer else { return MicroHTTPLibrary.endOfStream }
    let reading = Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue()
    return reading.stream.read(into: buffer, room, of: reading.connection)
}

private func releaseReading(_ context: UnsafeMutableRawPointer) {
    let reading = Unmanaged<Reading>.fromOpaque(context).takeRetainedValue()
    reading.core.remove(reading.stream)
    reading.stream.close()
}

/// `MHD_AccessHandlerCallback`: returns 1, or 0 to close the connection.
private func handle(
    _ context: UnsafeMutableRawPointer?, _ connection: UnsafeMutableRawPointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ body: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
    guard let context, let connection, let url, let method, let size, let state else { return 0 }
    let core = Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
    if let known = state.pointee {
        let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
        guard size.pointee > 0, let body else { return exchange.proceed() }
        exchange.take(body, size.pointee)
        size.pointee = 0
        return 1
    }
    var headers: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &headers) {
        _ = core.library.headers(connection, MicroHTTPLibrary.headerKind, addHeader, $0)
    }
    let request = LocalRequest(
        method: String(cString: method), path: String(cString: url),
        token: core.library.value(connection, MicroHTTPLibrary.argumentKind, "token").map { String(cString: $0) },
        headers: headers)
    switch core.service.admit(request) {
    case .refused(let response): return core.send(response, on: connection)
    case .accepted(let maximumBody):
        state.pointee = Unmanaged.passRetained(Exchange(core, connection, request, maximumBody: maximumBody)).toOpaque()
        return 1
    }
}

private func addHeader(
    _ context: UnsafeMutableRawPointer?, _: Int32, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> Int32 {
    guard let context, let name else { return 1 }
    let headers = context.assumingMemoryBound(to: [(name: String, value: String)].self)
    headers.pointee.append((String(cString: name).lowercased(), value.map { String(cString: $0) } ?? ""))
    return 1
}

private func completed(
    _: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _: UInt32
) {
    guard let known = state?.pointee else { return }
    state?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(known).release()
}
