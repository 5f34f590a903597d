// SPDX-License-Identifier: Apache-2.0

/// Reads what a panic prints (ESP-IDF's `panic.c`, `riscv/panic_arch.c`, `xtensa/panic_arch.c`): the reason, and in the first row of
/// registers the address and the caller (`MEPC` and `RA`; on Xtensa chips `PC` and `A0`).
struct CrashReader: Sendable {
    private var reason: String?

    /// Nil until there is something to tell. A reason that is followed by no registers is told with the next line but few.
    mutating func trouble(in text: String) -> DeviceTrouble? {
        if let found = stop(in: text) {
            reason = nil
            return found
        }
        if let rest = text.after("Guru Meditation Error: "), let said = rest.behind("panic'ed (") {
            reason = said.split(separator: ")").first.map { BootTrouble.excerpt(String($0.prefix(64))) } ?? "unknown"
            return nil
        }
        guard let reason else { return nil }
        for (place, caller) in [("MEPC", "RA"), ("PC", "A0")] where text.hasPrefix("\(place) ") {
            self.reason = nil
            return .crash(
                reason: reason, address: Self.register(place, in: text), caller: Self.register(caller, in: text))
        }
        if let task = text.after("Detected in task \"")?.split(separator: "\"").first {
            self.reason = nil
            return .stackOverflow(task: String(task.prefix(32)))
        }
        // The end of the block, without registers.
        guard text.hasPrefix("Rebooting...") || text.hasPrefix("ELF file SHA256") else { return nil }
        self.reason = nil
        return .crash(reason: reason, address: nil, caller: nil)
    }

    /// What ends the firmware on purpose, in one line.
    private func stop(in text: String) -> DeviceTrouble? {
        if text.hasPrefix("abort() was called at PC ") || text.hasPrefix("assert failed: ")
            || text.hasPrefix("ESP_ERROR_CHECK failed: ")
        {
            return .stopped(why: BootTrouble.excerpt(text))
        }
        guard let rest = text.after("***ERROR*** A stack overflow in task ") else { return nil }
        return .stackOverflow(task: rest.split(separator: " ").first.map { String($0.prefix(32)) } ?? "?")
    }

    /// `MEPC    : 0x42001234  RA      : 0x42001230  …`
    private static func register(_ name: String, in row: String) -> String? {
        let words = row.split(separator: " ")
        guard let index = words.firstIndex(of: Substring(name)), index + 2 < words.count, words[index + 1] == ":",
            words[index + 2].hasPrefix("0x"), words[index + 2].count <= 10
        else { return nil }
        return String(words[index + 2])
    }
}
