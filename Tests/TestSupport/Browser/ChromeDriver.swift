// SPDX-License-Identifier: Apache-2.0

/// The program that drives Chromium for others.
enum ChromeDriver {
    /// Starts it on a free port, trying five times at most. It takes a free port of one address family, and ends if another process has
    /// that port in the other family.
    static func start(
        _ program: String = "chromedriver", environment: [String: String] = [:]
    ) async throws -> (ChildProcess, port: String) {
        var complaint = ""
        for _ in 0..<5 {
            let driver = try await ChildProcess.start(program, ["--port=0"], environment: environment)
            while let line = try await driver.line() {
                if line.contains("started successfully on port "), let port = line.split(separator: " ").last {
                    return (driver, String(port.filter(\.isNumber)))
                }
            }
            let status = try await driver.wait()
            complaint = "\(program): \(status) \(driver.standardOutput)\(driver.standardError)"
        }
        throw HeadlessBrowser.Failure(what: complaint)
    }
}
