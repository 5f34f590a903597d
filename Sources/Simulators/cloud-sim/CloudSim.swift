// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

@main
struct CloudSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud-sim",
        abstract: "Simulated servers on this machine: the ESP RainMaker cloud, and what people sign in to.",
        discussion: """
            Without a subcommand it is the cloud, and takes its options: `cloud-sim --user a@b.c:secret`. `cloud-sim cloud --help` and
            `cloud-sim identity --help` list them.
            """,
        subcommands: [SimulateCloud.self, SimulateIdentity.self], defaultSubcommand: SimulateCloud.self)
}

/// The signals that end the program: blocked in every thread once this is made, and taken by ``wait()``. No code runs in
/// a signal handler.
struct EndingSignals {
    private var signals = sigset_t()

    init(also others: [Int32] = []) {
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] + others { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of them, and says which.
    func wait() -> Int32 {
        var signals = signals
        var number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
        return number
    }
}

/// Bypasses the C library's buffers, so that a program that waits for the ready line can read it at once.
func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
}
