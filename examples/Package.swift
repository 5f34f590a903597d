// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// Programs that use RainKit as a dependency, each as small as its purpose allows. scripts/check-examples builds and runs them against the
/// simulators.
let package = Package(
    name: "RainKitExamples",
    dependencies: [
        .package(name: "RainKit", path: ".."), .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "ExampleSettings"),
        program("HelloLogin"),
        program("ProvisionOverSerial"),
        program("ProvisionBatch"),
        program("GatewayLoop"),
        program("KitchenLamp"),
        .executableTarget(
            name: "LampService",
            dependencies: [
                .product(name: "RainKit", package: "RainKit"), .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["lamp-service.service"]),
        program("CustomEndpoint"),
        .target(
            name: "CustomTransport",
            dependencies: [
                .product(name: "RainKit", package: "RainKit"), .product(name: "Protocomm", package: "RainKit"),
                .product(name: "ESPProvisioning", package: "RainKit"),
            ]),
        program("CheckCustomTransport", ["CustomTransport", .product(name: "RainKitTesting", package: "RainKit")]),
    ]
)

func program(_ name: String, _ more: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["ExampleSettings", .product(name: "RainKit", package: "RainKit")] + more)
}
