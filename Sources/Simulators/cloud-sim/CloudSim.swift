// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

@main
struct CloudSim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud-sim",
        abstract: "Simulated servers on this machine: the ESP RainMaker cloud, RainMaker Neo, and identity systems.",
        discussion: """
            Example: cloud-sim --user me@example.com:secret

            Without a subcommand, cloud-sim runs the subcommand cloud, with its options. `cloud-sim cloud --help`,
            `cloud-sim neo --help` and `cloud-sim identity --help` list the options.
            """,
        subcommands: [SimulateCloud.self, SimulateNeo.self, SimulateIdentity.self],
        defaultSubcommand: SimulateCloud.self)
}

/// The signals that end the program. From its creation they are blocked in every thread, and ``wait()`` takes them. No code runs in a
/// signal handler.
struct EndingSignals {
    private var signals = sigset_t()

    init(also others: [Int32] = []) {
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] + others { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of them, and returns it.
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
