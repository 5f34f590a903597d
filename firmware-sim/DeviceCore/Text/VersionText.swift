// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

extension DeviceConfiguration {
    /// What `proto-ver` answers, as `cJSON_Print` lays it out: tabs, and no NUL at the end.
    var versionText: [UInt8] {
        var text = bytes("{\n")
        if !isClaimed { text.append("\t\"rmaker\":\t{\n\t\t\"ver\":\t\"1.0\",\n\t\t\"cap\":\t[\"claim\"]\n\t},\n") }
        let signs = association == .challengeResponse
        if signs || hasLocalData {
            text.append("\t\"rmaker_extra\":\t{\n\t\t\"ver\":\t\"1.0\",\n\t\t\"cap\":\t[")
            if signs { text.append("\"ch_resp\"") }
            if hasLocalData { text.append(signs ? ", \"local_ctrl\"" : "\"local_ctrl\"") }
            text.append("]\n\t},\n")
        }
        text.append("\t\"prov\":\t{\n\t\t\"ver\":\t\"")
        text.append(component == .networkProvisioning ? "netprov-v1.2\"" : "v1.1\"")
        if component.announcesSecurity {
            text.append(",\n\t\t\"sec_ver\":\t")
            text.append(decimal: UInt64(security.rawValue))
            // protocomm has the key since it has patch versions, whichever scheme the board has.
            if patchVersion > 0 {
                text.append(",\n\t\t\"sec_patch_ver\":\t")
                text.append(decimal: security == .security2 ? UInt64(patchVersion) : 0)
            }
        }
        text.append(",\n\t\t\"cap\":\t[")
        if security == .security0 {
            text.append("\"no_sec\", ")
        } else if security == .security1, !hasProofOfPossession {
            text.append("\"no_pop\", ")
        }
        if component == .networkProvisioning { text.append("\"wifi_prov\", ") }
        text.append("\"wifi_scan\"]\n\t}\n}")
        return text
    }
}
