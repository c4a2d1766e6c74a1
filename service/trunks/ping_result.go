package trunks

// TrunkTest is the result of SIP OPTIONS requests to all targets (SIP proxies) of a trunk.
type TrunkTest struct {
	TrunkID string       `json:"trunk_id"`
	OK      bool         `json:"ok"` // at least one target answered
	Targets []TargetTest `json:"targets"`
}

// TargetTest is the result for one target of a trunk.
type TargetTest struct {
	Target    string `json:"target"` // host:port;transport
	Reachable bool   `json:"reachable"`
	Code      int    `json:"code"` // SIP status code; 0 without an answer
	Reason    string `json:"reason"`
	Server    string `json:"server,omitempty"`
	Allow     string `json:"allow,omitempty"`
	Millis    int64  `json:"response_time_ms"`
	Error     string `json:"error,omitempty"`
}
