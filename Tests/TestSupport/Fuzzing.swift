// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The results of a subject for mutated input.
public struct FuzzReport: Sendable {
    public let subject: String
    public let rounds: Int
    /// One sentence each, with the input as hex where one input is to blame. Empty if all is well.
    public let failures: [String]

    /// Hand this to `#expect` as its comment.
    public var complaint: String { failures.joined(separator: "\n") }
}

/// How many mutated inputs each subject gets: `RAINKIT_FUZZ_ROUNDS`, or 300 if that is not set (`make soak` sets 100,000).
public var fuzzRounds: Int { getenv("RAINKIT_FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 300 }

/// Feeds mutated inputs to `subject`, and reports an input that took over a second of processor time. Call it inside
/// ``withOwnProcessInSoak(_:sourceLocation:_:)``.
///
/// If `memory` is given, memory that grew by more than 2 MiB from the 500th input to the last is reported, too. By default it is measured
/// only in a process of the test's own (`make soak`), since other tests' memory would count.
///
/// The same seed gives the same inputs. To find the input of a crash, run that test alone (`--filter`), and set `RAINKIT_FUZZ_TRACE` to a
/// file: each input is written there before it is used.
///
/// - Parameters:
///   - examples: good inputs to start from; they are fed unchanged, too.
///   - memory: returns the bytes that the subject's process uses.
///   - accept: hands one input to the subject, and catches the errors that it may throw.
public func fuzz(
    _ subject: String, from examples: [[UInt8]], rounds: Int = fuzzRounds, seed: UInt64 = 1,
    maximumLength: Int = 8192, memory: (() -> Int)? = SoakProcess.memory, _ accept: ([UInt8]) -> Void
) -> FuzzReport {
    var watch = FuzzWatch(subject: subject, rounds: rounds, memory: memory)
    var mutator = Mutator(seed: seed, maximumLength: maximumLength)
    for round in 0..<rounds {
        let input = round < examples.count ? examples[round] : mutator.next(from: examples)
        watch.willUse(input)
        let before = processorTime()
        accept(input)
        watch.didUse(input, round: round, took: processorTime() - before)
    }
    return watch.report()
}

/// The same for a subject whose entry is asynchronous. What an input takes is measured in a process of the test's own only: elsewhere
/// other tests' work would count.
public func fuzz(
    _ subject: String, from examples: [[UInt8]], rounds: Int = fuzzRounds, seed: UInt64 = 1,
    maximumLength: Int = 8192, memory: (() -> Int)? = SoakProcess.memory, _ accept: ([UInt8]) async -> Void
) async -> FuzzReport {
    var watch = FuzzWatch(subject: subject, rounds: rounds, memory: memory)
    var mutator = Mutator(seed: seed, maximumLength: maximumLength)
    for round in 0..<rounds {
        let input = round < examples.count ? examples[round] : mutator.next(from: examples)
        watch.willUse(input)
        var fastest = await ContinuousClock().measure { await accept(input) }
        if SoakProcess.ownCase != nil {
            // A busy machine makes anything slow once; only what is slow every time is to blame.
            for _ in 0..<2 where fastest > .seconds(1) {
                fastest = min(fastest, await ContinuousClock().measure { await accept(input) })
            }
        } else {
            fastest = .zero
        }
        watch.didUse(input, round: round, took: fastest)
    }
    return watch.report()
}

/// The time that the calling thread has had a processor.
private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

private struct FuzzWatch {
    private static let warmUp = 500
    private static let allowedGrowth = 2 * 1024 * 1024

    let subject: String
    let rounds: Int
    private let memory: (() -> Int)?
    private let trace: Int32?
    private var failures: [String] = []
    private var memoryAfterWarmUp: Int?

    init(subject: String, rounds: Int, memory: (() -> Int)?) {
        if SoakProcess.ownCase != nil { forgetWhereErrorsComeFrom() }
        self.subject = subject
        self.rounds = rounds
        self.memory = memory
        trace = getenv("RAINKIT_FUZZ_TRACE").map { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
    }

    func willUse(_ input: [UInt8]) {
        guard let trace else { return }
        _ = ftruncate(trace, 0)
        _ = pwrite(trace, input, input.count, 0)
    }

    mutating func didUse(_ input: [UInt8], round: Int, took time: Duration) {
        if time > .seconds(1), failures.count < 5 {
            failures.append("\(subject): round \(round) took \(time): \(hexString(Array(input.prefix(4096))))")
        }
        if round + 1 == min(Self.warmUp, rounds) { memoryAfterWarmUp = memory?() }
    }

    mutating func report() -> FuzzReport {
        if let trace { close(trace) }
        if let memory, let before = memoryAfterWarmUp {
            let growth = memory() - before
            if growth > Self.allowedGrowth {
                failures.append("\(subject): \(growth) bytes more are resident than after \(Self.warmUp) inputs")
            }
        }
        return FuzzReport(subject: subject, rounds: rounds, failures: failures)
    }
}

/// Stops the testing library from recording the call stack at each `throw`, for the rest of the process. That takes a fifth of the time if
/// thousands of inputs are refused.
private func forgetWhereErrorsComeFrom() {
    if let setter = dlsym(nil, "_swift_setWillThrowHandler") {
        unsafeBitCast(setter, to: (@convention(c) (UnsafeRawPointer?) -> Void).self)(nil)
    }
    // Typed errors have a variable instead of a setter.
    dlsym(nil, "_swift_willThrowTypedImpl")?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
}

/// The process's own resident memory in bytes, after the allocator gave back what it could.
///
/// Pages of files (programs, libraries) are left out: on a busy machine the kernel drops and reads them again as it likes.
public func residentMemory() -> Int {
    // glibc's module leaves malloc.h out.
    if let trim = dlsym(nil, "malloc_trim") {
        _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
    }
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    // total, resident, of which from files, …, in pages
    let fields = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: " "))
    let pages = fields.prefix(3).map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
    guard pages.count == 3 else { return 0 }
    return (pages[1] - pages[2]) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
