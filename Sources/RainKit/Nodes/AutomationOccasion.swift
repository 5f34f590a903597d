// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// A place on the earth, for automations by weather and daylight.
public struct GeoCoordinates: Sendable, Equatable {
    /// The degrees north of the equator, −90 to 90.
    public let latitude: Double
    /// The degrees east of Greenwich, −180 to 180.
    public let longitude: Double

    /// Returns nil for degrees that no place has.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Reads `59.91,10.75`: latitude and longitude in degrees. Returns nil for another text.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0).withoutOuterBlanks
        }
        guard parts.count == 2, let latitude = Double(parts[0]), let longitude = Double(parts[1]) else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// Reads `{"latitude":"18.52","longitude":"73.85"}`, also with numbers. Returns nil for anything else.
    init?(_ json: JSONValue?) {
        func degrees(_ name: String) -> Double? {
            json?[name].flatMap { value in value.double ?? value.string.flatMap { Double($0) } }
        }
        guard let latitude = degrees("latitude"), let longitude = degrees("longitude") else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// The form of the cloud, which has texts (espressif/esp-rainmaker-app-sdk-ts 3.3.0, `types/automation.ts`).
    var json: JSONValue { ["latitude": .string("\(latitude)"), "longitude": .string("\(longitude)")] }
}

/// A condition about the weather at a place.
public struct WeatherCondition: Sendable, Equatable {
    /// The values that the cloud knows of a place's weather. Their units are not documented; the names are those of OpenWeather, which has °C,
    /// hPa, % and m/s.
    public enum Quantity: String, Sendable, CaseIterable {
        /// The temperature of the air.
        case temperature
        /// The pressure of the air.
        case pressure
        /// The humidity of the air.
        case humidity
        /// The speed of the wind.
        case windSpeed = "wind_speed"
    }

    /// The kinds of weather that the cloud knows.
    public enum Kind: String, Sendable, CaseIterable {
        /// Lightning and thunder.
        case thunderstorm = "Thunderstorm"
        /// Fine rain.
        case drizzle = "Drizzle"
        /// Rain.
        case rain = "Rain"
        /// Snow.
        case snow = "Snow"
        /// A sky without clouds.
        case clear = "Clear"
        /// Clouds.
        case clouds = "Clouds"
        /// Thin fog.
        case mist = "Mist"
        /// Smoke.
        case smoke = "Smoke"
        /// Dry particles in the air.
        case haze = "Haze"
        /// Dust.
        case dust = "Dust"
        /// Fog.
        case fog = "Fog"
        /// Sand in the air.
        case sand = "Sand"
        /// Volcanic ash.
        case ash = "Ash"
        /// Sudden strong wind.
        case squall = "Squall"
        /// A tornado.
        case tornado = "Tornado"
    }

    private enum Content: Equatable {
        case value(Quantity, AutomationCondition.Comparison, Double)
        case kind(Kind)
    }

    private let content: Content

    /// The weather is of this kind.
    public init(_ kind: Kind) { content = .kind(kind) }

    /// A value compares so with a number.
    public init(_ quantity: Quantity, _ comparison: AutomationCondition.Comparison, _ number: Double) {
        content = .value(quantity, comparison, number)
    }

    /// The event as the cloud takes it.
    fileprivate var event: JSONValue {
        switch content {
        case .kind(let kind):
            return ["params": ["weather_condition": .string(kind.rawValue)], "check": "=="]
        case .value(let quantity, let comparison, let number):
            let value = Int64(exactly: number).map { JSONValue.integer($0) } ?? .number(number)
            return ["params": .object([.init(quantity.rawValue, value)]), "check": .string(comparison.rawValue)]
        }
    }
}

/// What sets off an automation, other than the report of a node.
public enum AutomationOccasion: Sendable, Equatable {
    /// The weather at a place.
    case weather([WeatherCondition], at: GeoCoordinates)
    /// Sunrise at a place.
    case sunrise(at: GeoCoordinates)
    /// Sunset at a place.
    case sunset(at: GeoCoordinates)

    /// The members of the rule: `event_type`, `events` and `location`.
    var members: [JSONValue.Member] {
        switch self {
        case .weather(let conditions, let place):
            return [
                .init("event_type", "weather"), .init("events", .array(conditions.map(\.event))),
                .init("location", place.json),
            ]
        case .sunrise(let place): return Self.daylight("sunrise", place)
        case .sunset(let place): return Self.daylight("sunset", place)
        }
    }

    /// How many conditions there are.
    var count: Int {
        switch self {
        case .weather(let conditions, _): conditions.count
        case .sunrise, .sunset: 1
        }
    }

    private static func daylight(_ name: String, _ place: GeoCoordinates) -> [JSONValue.Member] {
        let event: JSONValue = ["params": .object([.init(name, true)]), "check": "=="]
        return [.init("event_type", "daylight"), .init("events", [event]), .init("location", place.json)]
    }
}

extension RainKitClient {
    /// Returns the place that the phone apps store with the account: the value `geoCoordinates` of its custom data. Nil if they stored none.
    ///
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func storedCoordinates() async throws -> GeoCoordinates? {
        let account = try account()
        return try await RainKitError.rethrowing { () async throws(AccountError) in
            GeoCoordinates(try await account.rainMakerAccount().customData()["geoCoordinates"]?.value)
        }
    }
}
