// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The schemas of docs/schema that tools have as output schemas. Nobody edits this file: with `RAINKIT_RECORD=1`, `MCPToolTests`
/// writes it.
enum MCPSchemas {
    /// Returns a schema, without its title; nil for a name that no tool has.
    static func schema(_ name: String) -> JSONValue? { all[name] }

    private static let all: [String: JSONValue] = texts.mapValues {
        guard let schema = try? JSONValue(parsing: Array($0.utf8)) else { preconditionFailure("not JSON: \($0)") }
        return schema
    }

    private static let texts: [String: String] = [
        "action": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"group_id":{"type":"string"},
        "name":{"type":"string"},"changed":{"type":"boolean"},"removed":{"anyOf":[{"type":"boolean"},
        {"type":"array","items":{"type":"string"}}]},"added":{"type":"array","items":{"type":"string"}},
        "already":{"type":"array","items":{"type":"string"}},"automation_id":{"type":"string"},
        "request_id":{"type":"string"},"ids":{"type":"array","items":{"type":"string"}},
        "user_name":{"type":"string"},"accepted":{"type":"boolean"},"cancelled":{"type":"boolean"},
        "count":{"type":"integer"},"node_id":{"type":"string"},"set":{"type":"array",
        "items":{"type":"string"}},"deleted":{"type":"array","items":{"type":"string"}},
        "tags":{"type":"array","items":{"type":"string"}},"warnings":{"type":"array",
        "items":{"type":"object","properties":{"reason":{"type":"string"},"message":{"type":"string"}},
        "required":["reason","message"]}}},"required":["schema_version"]}
        """#,
        "automation-list": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"automations":{"type":"array","items":{}},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "automations"]}
        """#,
        "discovery": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"boards":{"type":"array","items":{"type":"object",
        "properties":{"transport":{"type":"string"},"port":{"type":"string"},"address":{"type":"string"},
        "name":{"type":"string"},"rssi":{"type":"integer"},"services":{"type":"array",
        "items":{"type":"string"}},"connected":{"type":"boolean"},"node_id":{"type":"string"}},
        "required":["transport"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","boards"]}
        """#,
        "entry-changes": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"id":{"type":"string"},"operation":{"type":"string"},
        "state":{"type":"string"},"message":{"type":"string"}},"required":["node_id","operation","state"]}},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "nodes"]}
        """#,
        "entry-list": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},
        "schedules":{"type":"array","items":{}},"scenes":{"type":"array","items":{}},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version"]}
        """#,
        "group-details": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"groups":{"type":"array","items":{"type":"object",
        "properties":{"group_id":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},
        "description":{"type":"string"},"parent":{"type":"string"},"mutually_exclusive":{"type":"boolean"},
        "primary":{"type":"boolean"},"total":{"type":"integer"},"is_matter":{"type":"boolean"},
        "fabric_id":{"type":"string"},"custom_data":{},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},
        "model":{"type":"string"},"role":{"type":"string"},"connected":{"type":"boolean"}},
        "required":["node_id"]}},"groups":{"type":"array","items":{"type":"object",
        "properties":{"group_id":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},
        "description":{"type":"string"},"parent":{"type":"string"},"mutually_exclusive":{"type":"boolean"},
        "primary":{"type":"boolean"},"total":{"type":"integer"},"is_matter":{"type":"boolean"},
        "fabric_id":{"type":"string"},"custom_data":{},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},
        "model":{"type":"string"},"role":{"type":"string"},"connected":{"type":"boolean"}},
        "required":["node_id"]}},"groups":{"type":"array","items":{}}},"required":["group_id"]}}},
        "required":["group_id"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","groups"]}
        """#,
        "history": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"from":{"type":"string"},"to":{"type":"string"},
        "timezone":{"type":"string"},"series":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"name":{"type":"string"},"param":{"type":"string"},
        "kind":{"type":"string"},"data_type":{"type":"string"},"aggregate":{"type":"string"},
        "interval":{"type":"string"},"count":{"type":"integer"},"min":{"type":"number"},
        "avg":{"type":"number"},"max":{"type":"number"},"is_cut":{"type":"boolean"},
        "records":{"type":"array","items":{"type":"object","properties":{"time":{"type":"string"},
        "value":{}},"required":["time","value"]}}},"required":["node_id","name","param","kind","data_type",
        "aggregate","count","records"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","from","to","timezone","series"]}
        """#,
        "node-document": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},"config":{},
        "metadata":{},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version"]}
        """#,
        "node-list": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"name":{"type":"string"},"model":{"type":"string"},
        "role":{"type":"string"},"connected":{"type":"boolean"}},"required":["node_id"]}},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "nodes"]}
        """#,
        "node-removed": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},
        "removed":{"type":"boolean"},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","node_id","removed"]}
        """#,
        "node-show-list": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},
        "model":{"type":"string"},"firmware_version":{"type":"string"},"role":{"type":"string"},
        "connected":{"type":"boolean"},"since":{"type":"string"},"tags":{"type":"array",
        "items":{"type":"string"}},"metadata":{},"params":{}},"required":[]}},"warnings":{"type":"array",
        "items":{"type":"object","properties":{"reason":{"type":"string"},"message":{"type":"string"}},
        "required":["reason","message"]}}},"required":["schema_version","nodes"]}
        """#,
        "node-status": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},
        "connected":{"type":"boolean"},"since":{"type":"string"},"warnings":{"type":"array",
        "items":{"type":"object","properties":{"reason":{"type":"string"},"message":{"type":"string"}},
        "required":["reason","message"]}}},"required":["schema_version"]}
        """#,
        "params": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},"params":{},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "node_id","params"]}
        """#,
        "params-set": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"nodes":{"type":"array","items":{"type":"object",
        "properties":{"node_id":{"type":"string"},"state":{"type":"string"},"message":{"type":"string"},
        "error_code":{"type":"integer"},"not_reported":{"type":"array","items":{"type":"string"}}},
        "required":["node_id","state"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","nodes"]}
        """#,
        "provision": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"node_id":{"type":"string"},
        "ip":{"type":"string"},"ssid":{"type":"string"},"mapping":{"type":"string"},
        "claimed":{"type":"boolean"},"resumed":{"type":"boolean"},"elapsed_ms":{"type":"integer"},
        "ssid_hex":{"type":"string"},"custom_data":{"type":"array","items":{"type":"object",
        "properties":{"endpoint":{"type":"string"},"bytes":{"type":"integer"},"answer":{"type":"string"},
        "answer_hex":{"type":"string"}},"required":["endpoint","answer_hex"]}},"name":{"type":"string"},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "mapping","claimed","resumed","elapsed_ms"]}
        """#,
        "session": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"profile":{"type":"string"},
        "base_url":{"type":"string"},"provider":{"type":"string"},"user_name":{"type":"string"},
        "user_id":{"type":"string"},"store":{"type":"string"},"account":{"type":"string"},
        "store_path":{"type":"string"},"received_at":{"type":"string"},"expires_at":{"type":"string"},
        "expires_in":{"type":"integer"},"expired":{"type":"boolean"},"renewable":{"type":"boolean"},
        "refresh_expires_at":{"type":"string"},"refresh_expires_in":{"type":"integer"},
        "warnings":{"type":"array","items":{"type":"object","properties":{"reason":{"type":"string"},
        "message":{"type":"string"}},"required":["reason","message"]}}},"required":["schema_version",
        "profile","base_url","provider","user_name","user_id","store","received_at","expired","renewable"]}
        """#,
        "sharing-list": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"shared":{"type":"array","items":{"type":"object",
        "properties":{"id":{"type":"string"},"primary_users":{"type":"array","items":{"type":"string"}},
        "secondary_users":{"type":"array","items":{"type":"string"}}},"required":["id","primary_users",
        "secondary_users"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","shared"]}
        """#,
        "sharing-requests": #"""
        {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"schema_version":{"type":"integer"},"requests":{"type":"array",
        "items":{"type":"object","properties":{"request_id":{"type":"string"},"status":{"type":"string"},
        "ids":{"type":"array","items":{"type":"string"}},"user_name":{"type":"string"},
        "owner_name":{"type":"string"},"requested_at":{"type":"string"},"transfer":{"type":"boolean"},
        "group_names":{"type":"array","items":{"type":"string"}},"metadata":{}},"required":["request_id",
        "status","ids"]}},"warnings":{"type":"array","items":{"type":"object",
        "properties":{"reason":{"type":"string"},"message":{"type":"string"}},"required":["reason",
        "message"]}}},"required":["schema_version","requests"]}
        """#,
    ]
}
