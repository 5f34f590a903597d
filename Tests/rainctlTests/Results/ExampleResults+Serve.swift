// SPDX-License-Identifier: Apache-2.0
@testable import rainctl

extension ExampleResults {
    static let serve: [any CommandResult] = [
        ServeResult(socket: "/run/user/1000/rainkit/rainctl.sock"),
        CancelResult(cancelled: true),
        CancelResult(cancelled: false),
        MethodsResult(
            ServedMethod.all.filter { $0.name == "node.show" || $0.name == "device.discover" }, version: "1.2.3"),
    ]
}
