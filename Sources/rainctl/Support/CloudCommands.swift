// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainKit

/// A command, or a group of commands, that asks the cloud, nearly always.
protocol CloudCommands {
    /// Starts libcurl, and with it OpenSSL, on a thread of its own: milliseconds that pass while the arguments are read and the session is
    /// looked up, instead of after that.
    static func startHTTP()
}

extension CloudCommands {
    static func startHTTP() {
        // Where there is no thread to be had, the first request does it.
        _ = startThread { CurlHTTPClient.prepare() }
    }
}

extension NodeCommand: CloudCommands {}
extension GroupCommand: CloudCommands {}
extension AutomationCommand: CloudCommands {}
extension Whoami: CloudCommands {}
