// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Descriptors 0 to 2, which a caller may have closed (`>&-`, a service manager).
enum StandardDescriptors {
    /// Opens what is closed on `/dev/null`. To be called before anything else is opened: the next pipe or socket would get the number, and
    /// what is printed would go there.
    static func open() {
        for descriptor in STDIN_FILENO...STDERR_FILENO {
            guard fcntl(descriptor, F_GETFD) < 0, errno == EBADF else { continue }
            if descriptor == STDOUT_FILENO { StandardStreams.outIsClosed() }
            // The lowest number that is free is this one, as those before it are open by now.
            _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
