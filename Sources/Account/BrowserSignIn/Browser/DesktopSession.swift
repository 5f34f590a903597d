// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether there is a browser on this machine that the person in front of the terminal can see.
public struct DesktopSession: Sendable, Equatable {
    /// Why there is none.
    public enum Obstacle: String, Sendable {
        /// `ssh`: the terminal is on another machine. `container`: a browser here has no screen of the person's to appear on.
        case ssh, container
        /// Neither `DISPLAY` nor `WAYLAND_DISPLAY` is set.
        case noDisplay = "no_display"
    }

    /// What keeps a browser from appearing before the person; nil on a desktop.
    public let obstacle: Obstacle?
    /// Whether `$BROWSER` names one all the same, as editors do that are connected to a remote machine.
    public let hasChosenBrowser: Bool

    /// - Parameter fileExists: whether a path is there; containers leave marks.
    public init(
        environment: [String: String], fileExists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) {
        func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
        hasChosenBrowser = isSet("BROWSER")
        if isSet("SSH_CONNECTION") || isSet("SSH_CLIENT") || isSet("SSH_TTY") {
            obstacle = .ssh
        } else if isSet("container") || isSet("CODESPACES") || isSet("REMOTE_CONTAINERS")
            || ["/.dockerenv", "/run/.containerenv"].contains(where: fileExists)
        {
            obstacle = .container
        } else if !isSet("DISPLAY"), !isSet("WAYLAND_DISPLAY") {
            obstacle = .noDisplay
        } else {
            obstacle = nil
        }
    }

    /// Whether to try and open a browser.
    public var opensBrowser: Bool { obstacle == nil || hasChosenBrowser }
}
