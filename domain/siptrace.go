package domain

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// CallTrace are the SIP messages of a call that is over.
type CallTrace struct {
	CallID      string       `json:"call_id"`
	WorkspaceID string       `json:"workspace_id"`
	Messages    []SIPMessage `json:"messages"` // in the order in which they were sent and came
	Dropped     int          `json:"dropped"`  // messages that were too many, or too large, to keep
}

// SIPMessage is one message as it stood on the wire, but for its secrets.
type SIPMessage struct {
	At        time.Time
	Out       bool   // sent by us
	Network   string // udp, tcp or tls
	Local     string // host:port
	Remote    string
	SIPCallID string
	Data      []byte
}

// storedMessage is a SIPMessage at rest: text stays text, so that it packs
// well.
type storedMessage struct {
	At        int64  `json:"t"` // µs since 1970
	Out       bool   `json:"o,omitempty"`
	Network   string `json:"n"`
	Local     string `json:"l"`
	Remote    string `json:"r"`
	SIPCallID string `json:"c"`
	Text      string `json:"m,omitempty"`
	Data      []byte `json:"b,omitempty"`
}

// MarshalJSON writes the form at rest.
func (m SIPMessage) MarshalJSON() ([]byte, error) {
	s := storedMessage{At: m.At.UnixMicro(), Out: m.Out, Network: m.Network, Local: m.Local, Remote: m.Remote, SIPCallID: m.SIPCallID}
	if utf8.Valid(m.Data) {
		s.Text = string(m.Data)
	} else {
		s.Data = m.Data
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the form at rest.
func (m *SIPMessage) UnmarshalJSON(b []byte) error {
	var s storedMessage
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*m = SIPMessage{
		At: time.UnixMicro(s.At).UTC(), Out: s.Out, Network: s.Network, Local: s.Local, Remote: s.Remote, SIPCallID: s.SIPCallID, Data: s.Data,
	}
	if s.Data == nil {
		m.Data = []byte(s.Text)
	}
	return nil
}

// Key names the row.
func (t *CallTrace) Key() Key { return Key{"call_trace", t.WorkspaceID, t.CallID} }

// Indexes: none.
func (t *CallTrace) Indexes() []string { return nil }

// Sort is by call.
func (t *CallTrace) Sort() string { return t.CallID }
