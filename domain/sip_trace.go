package domain

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CallTrace holds the SIP messages of an ended call.
type CallTrace struct {
	CallID      string
	WorkspaceID string
	Messages    []SIPMessage // in the order in which they were sent and received
	Dropped     int          // messages that were too many or too large to store
}

// SIPMessage is a SIP message as it was sent or received, without secrets.
type SIPMessage struct {
	At        time.Time
	Out       bool   // sent by the service
	Network   string // udp, tcp or tls
	Local     string // host:port
	Remote    string
	SIPCallID string
	Data      []byte
	Notes     []string // why parts of the body were ignored; shown, not stored
}

// TraceRow is the stored form of a CallTrace. It is written at the end of each call, so the encoding is cheap: all
// messages are concatenated, each after a line with its metadata.
type TraceRow struct {
	CallID      string `json:"call_id"`
	WorkspaceID string `json:"workspace_id"`
	Data        []byte `json:"-"`
	Dropped     int    `json:"dropped,omitempty"`
}

var errTrace = errors.New("domain: a stored trace cannot be read")

// Pack returns the stored form of the trace.
func (t *CallTrace) Pack() *TraceRow {
	size := 0
	for i := range t.Messages {
		size += len(t.Messages[i].Data) + 160
	}
	b := make([]byte, 0, size)
	for i := range t.Messages {
		b = t.Messages[i].Append(b)
	}
	return &TraceRow{CallID: t.CallID, WorkspaceID: t.WorkspaceID, Data: b, Dropped: t.Dropped}
}

// StoredTrace returns the SIP trace that is stored with an attempt whose call has not ended, in order of time. It
// returns nil if the attempt has no messages.
func (a *Attempt) StoredTrace() *CallTrace {
	if len(a.Trace) == 0 {
		return nil
	}
	row := &TraceRow{CallID: a.CallID, WorkspaceID: a.WorkspaceID, Data: a.Trace}
	t, err := row.Unpack()
	if err != nil {
		return nil
	}
	slices.SortStableFunc(t.Messages, func(x, y SIPMessage) int { return x.At.Compare(y.At) })
	return t
}

// Append appends the stored form of the message to b: a line "µs out network local remote call-id length", then the
// message itself. None of the fields contains a space.
func (m *SIPMessage) Append(b []byte) []byte {
	out := byte('-')
	if m.Out {
		out = '+'
	}
	b = append(strconv.AppendInt(b, m.At.UnixMicro(), 10), ' ', out)
	for _, word := range []string{m.Network, m.Local, m.Remote, m.SIPCallID} {
		b = append(append(b, ' '), word...)
	}
	b = append(strconv.AppendInt(append(b, ' '), int64(len(m.Data)), 10), '\n')
	return append(b, m.Data...)
}

// Unpack decodes the trace that Pack encoded.
func (r *TraceRow) Unpack() (*CallTrace, error) {
	t := &CallTrace{CallID: r.CallID, WorkspaceID: r.WorkspaceID, Dropped: r.Dropped}
	rest := string(r.Data)
	for rest != "" {
		var m SIPMessage
		var err error
		if m, rest, err = cutMessage(rest); err != nil {
			return nil, err
		}
		t.Messages = append(t.Messages, m)
	}
	return t, nil
}

func cutMessage(text string) (m SIPMessage, rest string, err error) {
	line, rest, ok := strings.Cut(text, "\n")
	words := strings.Split(line, " ")
	if !ok || len(words) != 7 {
		return m, "", errTrace
	}
	at, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return m, "", errTrace
	}
	size, err := strconv.Atoi(words[6])
	if err != nil || size < 0 || size > len(rest) {
		return m, "", errTrace
	}
	m = SIPMessage{
		At: time.UnixMicro(at).UTC(), Out: words[1] == "+", Network: words[2], Local: words[3], Remote: words[4], SIPCallID: words[5],
		Data: []byte(rest[:size]),
	}
	return m, rest[size:], nil
}

// Key returns the key of the SIP trace of a call in the store.
func (r *TraceRow) Key() Key { return Key{"call_trace", r.WorkspaceID, r.CallID} }

// Indexes returns nil: the SIP trace of a call is read by key or key prefix only.
func (r *TraceRow) Indexes() []string { return nil }

// Sort returns the call ID.
func (r *TraceRow) Sort() string { return r.CallID }

// RawPart returns the encoded messages as the raw part of the record.
func (r *TraceRow) RawPart() []byte { return r.Data }

// SetRawPart sets the encoded messages from the raw part of the record.
func (r *TraceRow) SetRawPart(part []byte) { r.Data = part }
