import Hashing

/// Log lines that have nothing to do with anyone's request, where a real board's other tasks would write them.
struct LogNoise {
    private var random: BoardRandom

    init(random: BoardRandom) { self.random = random }

    /// One or two lines, or none in two cases of three.
    mutating func lines(_ log: BoardLog) -> [UInt8] {
        switch random.number() % 6 {
        case 0: line(log)
        case 1: line(log) + line(log)
        default: []
        }
    }

    mutating func line(_ log: BoardLog) -> [UInt8] {
        let (level, tag, text) = Self.texts[Int(random.number()) % Self.texts.count]
        return log.line(level, tag, text)
    }

    /// Milliseconds until the board says something by itself again.
    mutating func pause() -> UInt64 { 700 + UInt64(random.number() % 2500) }

    private static let texts: [(BoardLog.Level, String, String)] = [
        (.info, "wifi", "new:<6,0>, old:<1,0>, ap:<6,0>, sta:<255,255>, prof:1"),
        (.info, "wifi", "station: 3e:5a:11:22:33:44 join, AID=1, bgn, 20"),
        (.warning, "wifi", "<ba-add>idx:2, ifx:1, tid:0, TAHI:0x1003cbc, TALO:0x44332211, (ssn:0, win:64, cur_ssn:0)"),
        (.info, "esp_netif_lwip", "DHCP server assigned IP to a client, IP is: 192.168.4.2"),
        (.info, "app_network", "SoftAP transport: Connected!"),
        (.info, "esp_rmaker_time", "SNTP already initialized."),
        (.warning, "httpd_txrx", "httpd_sock_err: error in recv : 104"),
    ]
}
