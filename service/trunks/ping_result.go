package trunks

// TrunkTest is what the targets of a trunk answered to OPTIONS.
type TrunkTest struct {
	TrunkID string       `json:"trunk_id"`
	OK      bool         `json:"ok"` // at least one answered
	Targets []TargetTest `json:"targets"`
}

// TargetTest is one target of a TrunkTest.
type TargetTest struct {
	Target    string `json:"target"` // host:port;transport
	Reachable bool   `json:"reachable"`
	Code      int    `json:"code"` // of its answer; 0 without one
	Reason    string `json:"reason"`
	Server    string `json:"server,omitempty"`
	Allow     string `json:"allow,omitempty"`
	Millis    int64  `json:"response_time_ms"`
	Error     string `json:"error,omitempty"`
}
