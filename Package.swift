// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// The settings of every target: Swift 6 mode, warnings are errors, imports are explicit.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A C library of the system: a module map, a shim header, and its Debian package.
func system(_ name: String, _ pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Platform/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

func target(_ name: String, path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

func tool(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// The unit tests of a module. They start no program and need only the compiler.
func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests", resources: resources,
        swiftSettings: settings)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// DocC's plugin is only for building the documentation (make docs). No other build, and no consumer, downloads it.
let documentation: [Package.Dependency] =
    Context.environment["RAINKIT_DOCS"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

/// All tests that start a program. `swift test` leaves them out; `scripts/test` builds and runs them.
let endToEnd: [Target] =
    Context.environment["RAINKIT_END_TO_END"] == nil
    ? []
    : [
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CloudSimulator", "DeviceCore", "ESPProvisioning", "IdentityProviders", "Protocomm", "ProtocommCore",
                "ProtocommTransports", "RainAccount", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus",
                "RainHTTP", "RainHTTPCurl", "RainIO", "RainJSON", "RainKit", "RainKitTesting", "RainMaker",
                "RainPrivateFiles", "RainQRCode", "RainKitC", "TestSupport", "cloud-sim", "firmware-sim", "fleet",
                "rainctl",
                argumentParser, logging,
            ],
            path: "Tests/EndToEnd",
            exclude: [
                "CLibrary/Programs", "ForeignClients/Clients", "ForeignClients/Servers",
                "Terminal/Conversations/Recorded",
            ],
            swiftSettings: settings)
    ]

/// Parsers of external input under libFuzzer (`make fuzz`), which needs its own compiler flags.
let fuzz: [Target] =
    Context.environment["RAINKIT_FUZZ"] == nil
    ? []
    : [
        tool(
            "fuzz", path: "Tests/Fuzz",
            [
                "ESPProvisioning", "RainAccount", "RainCore", "RainCryptoOpenSSL", "RainJSON", "RainKit", "RainMaker",
                "RainQRCode",
            ])
    ]

let package = Package(
    name: "RainKit",
    products: [
        .library(name: "RainKit", targets: ["RainKit"]),
        .library(name: "RainAccount", targets: ["RainAccount", "IdentityProviders", "RainMaker"]),
        .library(name: "ESPProvisioning", targets: ["ESPProvisioning"]),
        .library(name: "Protocomm", targets: ["Protocomm", "ProtocommCore"]),
        .library(name: "RainKitTesting", targets: ["RainKitTesting"]),
        // librainkit.so.1, for C and other languages: scripts/build-c-library. A name that differs from RainKit by case alone is not possible.
        .library(name: "rainkit-c", type: .dynamic, targets: ["RainKitC"]),
        .executable(name: "rainctl", targets: ["rainctl"]),
        .executable(name: "cloud-sim", targets: ["cloud-sim"]),
        .executable(name: "firmware-sim", targets: ["firmware-sim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Without its Foundation half, which would triple the code that is loaded with every command.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ] + documentation,
    targets: [
        // The system's C libraries. Those without a package here are opened when they are needed.
        system("CRainOpenSSL", "libcrypto", apt: "libssl-dev"),
        system("CRainJSONC", "json-c", apt: "libjson-c-dev"),
        system("CRainMosquitto", "libmosquitto", apt: "libmosquitto-dev"),
        system("CRainCurl", apt: "libcurl4-openssl-dev"),
        system("CRainDescriptors"),
        system("CRainMicroHTTP"),
        system("CRainQRCode"),

        // Also compiled for boards (Embedded Swift): RainCrypto, ProtocommCore, DeviceCore.
        target("RainCrypto", path: "Sources/Crypto"),
        target("ProtocommCore", path: "Sources/ProtocommCore", ["RainCrypto"]),
        target("DeviceCore", path: "firmware-sim/DeviceCore", ["ProtocommCore", "RainCrypto"]),
        // Uses them with concrete types, so that scripts/build-embedded compiles their generic code.
        target("EmbeddedProbe", path: "firmware-sim/riscv32/Probe", ["DeviceCore", "ProtocommCore", "RainCrypto"]),

        // Shared vocabulary, and the modules for Linux.
        target("RainCore", path: "Sources/Core"),
        target("RainIO", path: "Sources/Platform/IO", ["RainCore", "CRainDescriptors"]),
        target("RainCryptoOpenSSL", path: "Sources/Platform/OpenSSL", ["RainCrypto", "CRainOpenSSL"]),
        target("RainDBus", path: "Sources/Platform/DBus", ["RainCore", "RainIO"]),
        target("RainHTTP", path: "Sources/Platform/HTTP"),
        target(
            "RainHTTPCurl", path: "Sources/Platform/Curl",
            ["RainCore", "RainCryptoOpenSSL", "RainHTTP", "RainIO", "CRainCurl"]),
        target("RainJSON", path: "Sources/Platform/JSON", ["CRainJSONC"]),
        target("RainMicroHTTP", path: "Sources/Platform/MicroHTTP", ["CRainMicroHTTP", "RainCore", "RainIO"]),
        target("RainMosquitto", path: "Sources/Platform/Mosquitto", ["RainCore", "RainIO"]),
        target("RainPostgreSQL", path: "Sources/Platform/PostgreSQL", ["RainCore", "RainIO"]),
        target("RainPrivateFiles", path: "Sources/Platform/PrivateFiles", ["RainCore", "RainJSON"]),
        target("RainQRCode", path: "Sources/Platform/QRCode", ["RainCore", "CRainQRCode"]),
        target("RainSQLite", path: "Sources/Platform/SQLite", ["RainCore"]),

        // From a program to a board.
        target("Protocomm", path: "Sources/Protocomm", ["ProtocommCore", "RainCore", "RainIO", logging]),
        target(
            "ProtocommTransports", path: "Sources/Transports",
            ["Protocomm", "ProtocommCore", "RainCore", "RainDBus", "RainHTTP", "RainIO", logging]),
        target(
            "ESPProvisioning", path: "Sources/Boards",
            [
                "Protocomm", "ProtocommCore", "RainCore", "RainCrypto", "RainIO", "RainJSON", logging,
            ]),

        // From a program to a cloud.
        target(
            "RainAccount", path: "Sources/Account",
            [
                "RainCore", "RainCrypto", "RainHTTP", "RainIO", "RainJSON", "RainPrivateFiles", "CRainDescriptors",
                logging,
            ]),
        target(
            "IdentityProviders", path: "Sources/IdentityProviders",
            ["RainAccount", "RainCore", "RainCrypto", "RainHTTP", "RainJSON"]),
        target(
            "RainMaker", path: "Sources/RainMaker",
            ["RainAccount", "RainCore", "RainCrypto", "RainHTTP", "RainIO", "RainJSON", logging]),

        // The module that programs import.
        target(
            "RainKit", path: "Sources/RainKit",
            [
                "ESPProvisioning", "IdentityProviders", "Protocomm", "ProtocommCore", "ProtocommTransports",
                "RainAccount", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainHTTP", "RainHTTPCurl",
                "RainIO", "RainJSON", "RainMaker", "RainMicroHTTP", "RainMosquitto", "RainPostgreSQL",
                "RainPrivateFiles",
                "RainQRCode", "RainSQLite", logging,
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        target(
            "RainKitTesting", path: "Sources/RainKitTesting",
            [
                "DeviceCore", "IdentityProviders", "Protocomm", "ProtocommCore", "RainAccount", "RainCore", "RainHTTP",
                "RainKit", "RainMaker",
            ]),

        // The SDK for C: its header, and the functions of the header in Swift.
        .target(name: "CRainKit", path: "Sources/CRainKit"),
        target(
            "RainKitC", path: "Sources/RainKitC",
            [
                "CRainKit", "ESPProvisioning", "IdentityProviders", "RainAccount", "RainCore", "RainCryptoOpenSSL",
                "RainIO", "RainJSON",
                "RainKit", "RainMaker", logging,
            ]),

        // Programs. Modules that change often are listed, although RainKit exports them: SwiftPM (6.3) recompiles a target only for the
        // targets in its list, and otherwise links old calls.
        tool(
            "rainctl", path: "Sources/rainctl",
            [
                "ESPProvisioning", "IdentityProviders", "Protocomm", "ProtocommTransports", "RainAccount", "RainCore",
                "RainDBus", "RainHTTP", "RainHTTPCurl", "RainIO", "RainJSON", "RainKit", "RainMaker",
                "RainPrivateFiles", "CRainDescriptors", argumentParser, logging,
            ]),
        target(
            "CloudSimulator", path: "Sources/Simulators/CloudSimulator",
            [
                "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainIO", "RainJSON", "CRainDescriptors",
                "CRainMosquitto", "CRainOpenSSL",
            ]),
        tool("cloud-sim", path: "Sources/Simulators/cloud-sim", ["CloudSimulator", "RainJSON", argumentParser]),
        tool(
            "firmware-sim", path: "firmware-sim/Host",
            [
                "DeviceCore", "ProtocommCore", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainIO",
                "RainJSON",
                "CRainDescriptors", "CRainMosquitto", "CRainOpenSSL", argumentParser,
            ]),

        // Tests: a folder for each module. CloudTests has those of RainAccount, IdentityProviders and RainMaker, which share their fakes.
        target(
            "TestSupport", path: "Tests/TestSupport",
            ["RainAccount", "RainCore", "RainCrypto", "RainHTTP", "RainHTTPCurl", "RainJSON", logging]),
        tests("TestSupport", ["TestSupport"]),
        tests("Structure", ["TestSupport"]),
        tests("RainCore", ["RainCore", "TestSupport"]),
        tests("RainIO", ["RainIO", "RainKitTesting", "TestSupport"]),
        tests("RainCryptoOpenSSL", ["RainCrypto", "RainCryptoOpenSSL", "TestSupport"]),
        tests("RainDBus", ["RainCore", "RainDBus", "TestSupport"]),
        tests(
            "RainHTTPCurl",
            ["CRainCurl", "RainCrypto", "RainCryptoOpenSSL", "RainHTTP", "RainHTTPCurl", "RainIO", "TestSupport"]),
        tests("RainJSON", ["RainJSON", "TestSupport"]),
        tests("RainPostgreSQL", ["RainPostgreSQL", "TestSupport"]),
        tests("RainPrivateFiles", ["RainPrivateFiles", "TestSupport"]),
        tests("RainQRCode", ["RainCore", "RainQRCode", "TestSupport"]),
        tests("RainSQLite", ["RainSQLite", "TestSupport"]),
        tests(
            "ProtocommCore", ["ProtocommCore", "RainCrypto", "RainCryptoOpenSSL", "RainJSON", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "Protocomm", ["Protocomm", "ProtocommCore", "RainCryptoOpenSSL", "RainIO", "RainKitTesting", "TestSupport"]),
        tests(
            "ProtocommTransports",
            [
                "Protocomm", "ProtocommCore", "ProtocommTransports", "RainCryptoOpenSSL", "RainDBus", "RainHTTP",
                "RainHTTPCurl", "RainIO", "RainKitTesting", "TestSupport", logging,
            ]),
        tests(
            "ESPProvisioning",
            [
                "DeviceCore", "ESPProvisioning", "Protocomm", "ProtocommCore", "RainCore", "RainCrypto",
                "RainCryptoOpenSSL", "RainIO", "RainJSON", "RainKitTesting", "TestSupport", logging,
            ]),
        tests(
            "Cloud",
            [
                "IdentityProviders", "RainAccount", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainHTTP",
                "RainHTTPCurl", "RainIO", "RainJSON", "RainKitTesting", "RainMaker", "TestSupport", logging,
            ]),
        tests(
            "RainKit",
            [
                "DeviceCore", "ESPProvisioning", "IdentityProviders", "Protocomm", "ProtocommTransports", "RainAccount",
                "RainCore", "RainCryptoOpenSSL", "RainDBus", "RainHTTP", "RainIO", "RainJSON", "RainKit",
                "RainKitTesting", "RainMaker", "RainMicroHTTP", "RainMosquitto", "RainPrivateFiles", "RainSQLite",
                "TestSupport",
                logging,
            ]),
        tests(
            "rainctl",
            [
                "ESPProvisioning", "IdentityProviders", "Protocomm", "RainAccount", "RainCore", "RainDBus", "RainJSON",
                "RainKit", "RainKitTesting", "RainMaker", "TestSupport", "rainctl", argumentParser,
            ],
            resources: [.copy("Recorded")]),
        tests(
            "DeviceCore",
            ["DeviceCore", "ProtocommCore", "RainCrypto", "RainCryptoOpenSSL", "RainJSON", "TestSupport"]),
        tests(
            "FirmwareSim",
            [
                "DeviceCore", "ProtocommCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainJSON", "TestSupport",
                "firmware-sim",
                argumentParser,
            ]),
        tests(
            "CloudSimulator",
            [
                "CloudSimulator", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainHTTP", "RainHTTPCurl", "RainJSON",
                "TestSupport",
            ]),
        // A gateway in one process, which the fault test and the benchmark measure from outside.
        tool("fleet", path: "Tests/Fleet", ["ESPProvisioning", "ProtocommTransports", "RainJSON", "RainKit", logging]),
    ] + endToEnd + fuzz
)
