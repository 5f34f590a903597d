// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainJSON
import RainKit

/// Provisions many boards over Bluetooth in one process, as a gateway or a workshop does: one account, one connection to BlueZ.
///
/// Reads one JSON document on standard input (``Order``), writes a line of JSON for each board, and one at the end with what it cost.
@main
enum Fleet {
    static func main() async throws {
        let order = try JSONCoder.decode(Order.self, from: standardInput())
        let kit = try await client(order)
        // BlueZ is reached before anything is counted.
        for try await _ in kit.boards(BoardSearch(for: .zero), over: ["ble"]) {}
        // What the process takes before the first board.
        let start = Usage()
        let began = ContinuousClock.now

        let results = await withTaskGroup(of: Result.self) { group in
            var waiting = order.boards[...]
            var results: [Result] = []
            for _ in 0..<order.atOnce {
                guard let board = waiting.popFirst() else { break }
                group.addTask { await provision(board, order, kit) }
            }
            for await result in group {
                result.print()
                results.append(result)
                if let board = waiting.popFirst() {
                    group.addTask { await provision(board, order, kit) }
                }
            }
            return results
        }
        let end = Usage()
        printLine([
            .init("event", "done"), .init("boards", .integer(Int64(results.count))),
            .init("provisioned", .integer(Int64(results.filter { $0.error == nil }.count))),
            .init("seconds", .number((ContinuousClock.now - began) / .seconds(1))),
            .init("slowest", .number(results.map(\.seconds).max() ?? 0)),
            .init("cpu", .number(end.cpu - start.cpu)),
            .init("kib_before", .integer(Int64(start.kibibytes))), .init("kib_peak", .integer(Int64(end.peak))),
        ])
        await kit.close()
    }

    /// One signed-in user for all boards.
    private static func client(_ order: Order) async throws -> RainKitClient {
        guard !order.api.isEmpty else { return RainKitClient(.inMemory()) }
        let kit = RainKitClient(.inMemory(deployment: try Deployment(name: "fleet", base: order.api)))
        try await kit.signIn(user: order.user, password: order.password)
        return kit
    }

    private static func provision(_ board: Order.Board, _ order: Order, _ kit: RainKitClient) async -> Result {
        let began = ContinuousClock.now
        var error: RainKitError?
        do {
            guard let network = try? WiFiNetwork(order.ssid, passphrase: order.passphrase) else {
                fatalError("the order names no network")
            }
            let proof = ProofOfPossession(board.proofOfPossession)
            let request = OnboardingRequest(
                network: .given(network), mapsToUser: !order.api.isEmpty, deadline: .seconds(order.timeout))
            try await kit.provision(.bluetooth(board.address), with: BoardCredentials(proof: proof), request)
        } catch let failure {
            error = RainKitError(wrapping: failure)
        }
        return Result(board: board, error: error, seconds: (ContinuousClock.now - began) / .seconds(1))
    }
}

/// What is to be done.
struct Order: Decodable {
    struct Board: Decodable, Sendable {
        var address: String
        var proofOfPossession: String
    }

    /// The cloud's base URL; empty for Wi-Fi alone.
    var api: String
    var user: String
    var password: String
    var ssid: String
    var passphrase: String
    var boards: [Board]
    var atOnce: Int
    /// Seconds for each board.
    var timeout: Int
}

struct Result: Sendable {
    var board: Order.Board
    var error: RainKitError?
    var seconds: Double

    func print() {
        var members: [JSONValue.Member] = [
            .init("event", "board"), .init("address", .string(board.address)), .init("ok", .bool(error == nil)),
            .init("seconds", .number(seconds)),
        ]
        if let error {
            members += [.init("step", .string(error.step?.rawValue ?? "")), .init("error", .string("\(error)"))]
        }
        printLine(members)
    }
}

/// What the kernel says this process has used.
struct Usage {
    var cpu: Double
    var kibibytes: Int
    var peak: Int

    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        peak = Int(usage.ru_maxrss)
        kibibytes = Self.resident()
    }

    private static func resident() -> Int {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &buffer, buffer.count)
        let fields = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * (getpagesize() / 1024) : 0
    }

    private static func getpagesize() -> Int { Int(sysconf(Int32(_SC_PAGESIZE))) }
}

private func standardInput() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else { return all }
        all += buffer[..<count]
    }
}

private func printLine(_ members: [JSONValue.Member]) {
    let line = JSONValue.object(members).serialized() + [0x0A]
    _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
