// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every target: Swift 6 mode, warnings are errors, imports are explicit.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The tests test what is optimized (scripts/test-build), and are themselves compiled without, in half the time. Such flags are unsafe
/// to SwiftPM; a package that depends on this one never sees them.
let unoptimized: [SwiftSetting] =
    Context.environment["RAINKIT_TESTS"] == nil
    ? [] : [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// A C library of the system: a module map, a shim header, and the Debian package that brings it.
func system(_ name: String, _ pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func target(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path ?? "Sources/\(name)", swiftSettings: settings)
}

func tool(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path ?? "Sources/\(name)", swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests", exclude: exclude,
        resources: resources, swiftSettings: settings + unoptimized)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "RainKit",
    products: [
        .library(name: "RainKit", targets: ["RainKit"]),
        .library(name: "Account", targets: ["Account"]),
        .library(name: "ESPProvisioning", targets: ["ESPProvisioning"]),
        .library(name: "Protocomm", targets: ["Protocomm"]),
        .library(name: "RainKitTesting", targets: ["RainKitTesting"]),
        .executable(name: "rainctl", targets: ["rainctl"]),
        .executable(name: "cloud-sim", targets: ["cloud-sim"]),
        .executable(name: "firmware-sim", targets: ["firmware-sim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // L0: nothing below. ProtocommWire, Hashing and ProtocommSecurity are Embedded-safe.
        system("COpenSSL", "libcrypto", apt: "libssl-dev"),
        system("CJSONC", "json-c", apt: "libjson-c-dev"),
        system("CMosquitto", "libmosquitto", apt: "libmosquitto-dev"),
        system("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
        .systemLibrary(name: "CDescriptors", path: "Sources/CDescriptors"),
        target("Vocabulary"),
        target("ProtocommWire"),
        target("Hashing"),
        target("PrivateFiles"),
        target("Deadlines"),
        target("Threads", ["CDescriptors"]),

        // L1
        target("HTTPCore"),
        target("JSON", ["CJSONC"]),
        target("SerialPort", ["Deadlines", "Threads"]),
        target("DBus", ["Threads"]),
        target("HashingOpenSSL", ["Hashing", "COpenSSL"]),
        target("ProtocommSecurity", ["ProtocommWire", "Hashing"]),

        // L2
        target("OAuth2", ["Hashing", "JSON", "Vocabulary"]),
        target("HTTPCurl", ["HTTPCore", "CCurl", "Threads"]),
        target("CryptoOpenSSL", ["ProtocommSecurity", "Hashing", "HashingOpenSSL", "COpenSSL"]),
        target("Protocomm", ["Deadlines", "ProtocommSecurity", "ProtocommWire", logging]),
        target("DeviceCore", ["ProtocommSecurity", "ProtocommWire", "Hashing"], path: "firmware-sim/DeviceCore"),
        // Uses the Embedded-safe targets with concrete types, so that scripts/build-embedded compiles their generics.
        target(
            "EmbeddedProbe", ["DeviceCore", "ProtocommSecurity", "ProtocommWire", "Hashing"],
            path: "firmware-sim/riscv32/Probe"),

        // L3
        target("ProtocommSerial", ["Protocomm", "ProtocommWire", "SerialPort", logging]),
        target("ProtocommSoftAP", ["Protocomm", "ProtocommWire", "HTTPCore", logging]),
        target("ProtocommBLE", ["DBus", "Protocomm", "ProtocommWire", logging]),
        target(
            "ESPProvisioning",
            [
                "Deadlines", "Hashing", "JSON", "Protocomm", "ProtocommSecurity", "ProtocommWire", "Vocabulary",
                logging,
            ]),
        target(
            "Account",
            [
                "CDescriptors", "Deadlines", "HTTPCore", "JSON", "Hashing", "OAuth2", "PrivateFiles", "Threads",
                "Vocabulary", logging,
            ]),

        // L4
        target("SecretService", ["Account", "PrivateFiles", "Threads", "Vocabulary", logging]),
        target(
            "RainMakerConsole",
            ["Deadlines", "ESPProvisioning", "ProtocommSerial", "SerialPort", "Vocabulary", logging]),
        target("RainMaker", ["Account", "HTTPCore", "JSON", "Vocabulary", logging]),
        target(
            "Onboarding",
            ["Account", "Deadlines", "ESPProvisioning", "JSON", "PrivateFiles", "RainMaker", "Vocabulary", logging]),
        target(
            "RainKitTesting",
            ["Account", "HTTPCore", "Protocomm", "ProtocommWire", "ProtocommSecurity", "DeviceCore", "Vocabulary"]),

        // L5
        target(
            "RainKit",
            [
                "Account", "CryptoOpenSSL", "ESPProvisioning", "HTTPCore", "HTTPCurl", "Hashing", "HashingOpenSSL",
                "JSON", "Onboarding", "PrivateFiles", "Protocomm", "ProtocommSecurity", "ProtocommSerial",
                "ProtocommBLE", "ProtocommSoftAP", "ProtocommWire", "RainMaker", "RainMakerConsole", "SecretService",
                "SerialPort",
                "Vocabulary", logging,
            ]),
        target(
            "CloudSimulator",
            ["JSON", "Hashing", "HashingOpenSSL", "CDescriptors", "COpenSSL", "CMosquitto", "Threads"]),

        // L6
        // RainKit hands its rooms on, and what changes often is named all the same: SwiftPM (6.3) compiles a target anew for what it
        // names alone, and links yesterday's calls otherwise.
        tool(
            "rainctl",
            [
                "CDescriptors", "Deadlines", "JSON", "OAuth2", "PrivateFiles", "ProtocommBLE", "RainKit", "Threads",
                "Vocabulary", argumentParser, logging,
            ]),
        tool("cloud-sim", ["CloudSimulator", "JSON", argumentParser]),
        tool(
            "firmware-sim",
            [
                "DeviceCore", "CryptoOpenSSL", "Hashing", "HashingOpenSSL", "ProtocommSecurity", "ProtocommWire",
                "SerialPort", "DBus", "JSON", "CDescriptors", "COpenSSL", "CMosquitto", argumentParser,
            ], path: "firmware-sim/Host"),

        // Tests mirror Sources one to one.
        target("TestSupport", ["HTTPCore", "HTTPCurl", "Hashing", "JSON"], path: "Tests/TestSupport"),
        tests("TestSupport", ["TestSupport"]),
        tests("Vocabulary", ["Vocabulary"]),
        tests("PrivateFiles", ["PrivateFiles", "TestSupport"]),
        tests("Deadlines", ["Deadlines", "RainKitTesting"]),
        tests("Threads", ["Threads"]),
        tests(
            "ProtocommWire", ["Hashing", "ProtocommWire", "TestSupport"], resources: [.copy("Fixtures")]),
        tests(
            "ProtocommSecurity",
            [
                "ProtocommSecurity", "ProtocommWire", "Hashing", "HashingOpenSSL", "CryptoOpenSSL", "JSON",
                "TestSupport",
            ],
            resources: [.copy("Fixtures")]),
        tests("OAuth2", ["HashingOpenSSL", "JSON", "OAuth2", "TestSupport", "Vocabulary"]),
        tests("SecretService", ["Account", "RainKitTesting", "SecretService", "TestSupport", "Vocabulary"]),
        tests("HashingOpenSSL", ["Hashing", "HashingOpenSSL", "TestSupport"]),
        tests("HTTPCurl", ["HTTPCore", "HTTPCurl", "TestSupport"]),
        tests("JSON", ["JSON", "TestSupport"]),
        tests(
            "Protocomm",
            [
                "CryptoOpenSSL", "HashingOpenSSL", "Protocomm", "ProtocommSecurity", "ProtocommWire", "RainKitTesting",
                "TestSupport",
            ]),
        tests("SerialPort", ["RainKitTesting", "SerialPort", "TestSupport"]),
        tests("DBus", ["DBus", "TestSupport"]),
        tests(
            "ProtocommBLE",
            ["DBus", "Protocomm", "ProtocommBLE", "ProtocommWire", "RainKitTesting", "TestSupport", logging]),
        tests(
            "ProtocommSerial",
            [
                "CryptoOpenSSL", "HashingOpenSSL", "Protocomm", "ProtocommSecurity", "ProtocommSerial", "ProtocommWire",
                "RainKitTesting", "SerialPort", "TestSupport",
            ]),
        tests(
            "ProtocommSoftAP",
            [
                "HTTPCore", "HTTPCurl", "Protocomm", "ProtocommSoftAP", "ProtocommWire", "RainKitTesting",
                "TestSupport",
            ]),
        tests(
            "ESPProvisioning",
            [
                "CryptoOpenSSL", "DeviceCore", "ESPProvisioning", "Hashing", "HashingOpenSSL", "Protocomm",
                "ProtocommSecurity", "ProtocommWire", "RainKitTesting", "TestSupport", "Vocabulary", logging,
            ]),
        tests(
            "RainMakerConsole",
            [
                "ESPProvisioning", "RainKitTesting", "RainMakerConsole", "SerialPort", "TestSupport", "Vocabulary",
                logging,
            ]),
        tests(
            "Account",
            [
                "Account", "HTTPCore", "HTTPCurl", "HashingOpenSSL", "JSON", "OAuth2", "RainKitTesting", "TestSupport",
                "Vocabulary", "cloud-sim", logging,
            ]),
        tests(
            "RainMaker",
            [
                "Account", "HTTPCore", "HTTPCurl", "JSON", "RainKitTesting", "RainMaker", "TestSupport", "Vocabulary",
                "cloud-sim",
            ]),
        tests(
            "Onboarding",
            [
                "Account", "CryptoOpenSSL", "DeviceCore", "ESPProvisioning", "HTTPCore", "JSON", "Onboarding",
                "Protocomm", "RainKitTesting", "RainMaker", "TestSupport", "Vocabulary", logging,
            ]),
        tests(
            "DeviceCore",
            [
                "CryptoOpenSSL", "DeviceCore", "Hashing", "HashingOpenSSL", "JSON", "ProtocommSecurity",
                "ProtocommWire",
                "TestSupport",
            ]),
        tests(
            "FirmwareSim",
            ["DBus", "DeviceCore", "JSON", "ProtocommWire", "TestSupport", "cloud-sim", "firmware-sim", argumentParser]),
        tests("CloudSimulator", ["CloudSimulator", "HTTPCore", "HTTPCurl", "JSON", "TestSupport", "cloud-sim"]),
        tests(
            "rainctl",
            ["JSON", "RainKit", "RainKitTesting", "TestSupport", "Vocabulary", "cloud-sim", "firmware-sim", "rainctl"],
            resources: [.copy("Snapshots")]),
        tests(
            "Interop",
            ["JSON", "OAuth2", "RainKit", "RainKitTesting", "TestSupport", "cloud-sim", "firmware-sim", "rainctl"],
            exclude: ["Clients", "Servers"]),
        // A gateway in one process, which the fault run and the benchmark count from outside.
        // (ProtocommBLE is named for the reason that stands at rainctl.)
        tool("fleet", ["JSON", "ProtocommBLE", "RainKit", logging], path: "Tests/Fleet"),
        tests("Fleet", ["JSON", "TestSupport", "cloud-sim", "firmware-sim", "fleet"]),
        tests("Linkage", ["TestSupport", "firmware-sim", "rainctl"]),
    ]
)
