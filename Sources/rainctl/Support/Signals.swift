import Glibc

/// Turns SIGINT and SIGTERM into a cancellation, so that a command closes what it opened before it ends.
enum Signals {
    /// Blocks both signals, which every thread made afterwards inherits. Call it before anything starts a thread.
    static func block() {
        var set = watched
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Calls `cancel` at the first signal; the second one ends the process at once.
    static func whenReceived(_ cancel: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(cancel))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                let box = Unmanaged<Box>.fromOpaque(context!).takeRetainedValue()
                var set = Signals.watched
                var number: Int32 = 0
                sigwait(&set, &number)
                box.cancel()
                sigwait(&set, &number)
                _exit(130)
            }, box.toOpaque())
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let cancel: @Sendable () -> Void
        init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
    }

    private static var watched: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
