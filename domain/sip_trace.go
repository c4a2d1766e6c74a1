package domain

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CallTrace are the SIP messages of a call that is over.
type CallTrace struct {
	CallID      string
	WorkspaceID string
	Messages    []SIPMessage // in the order in which they were sent and came
	Dropped     int          // messages that were too many, or too large, to keep
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
	Notes     []string // what of its body was not used, and why; shown, never kept
}

// TraceRow is a trace at rest. One is written at each call's end, so it is made
// to cost little: all messages stand one behind the other as they are, each
// behind a line that says where it belongs.
type TraceRow struct {
	CallID      string `json:"call_id"`
	WorkspaceID string `json:"workspace_id"`
	Data        []byte `json:"-"`
	Dropped     int    `json:"dropped,omitempty"`
}

var errTrace = errors.New("domain: a stored trace cannot be read")

// Pack makes the row of a trace.
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

// StoredTrace is the trace that a call which did not end has left in its attempt's
// row, in the order of time; nil: none.
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

// Append writes "µs out network local remote call-id length", a line feed
// and the message. None of the words holds a space.
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

// Unpack is the inverse of Pack.
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

// Key names the row.
func (r *TraceRow) Key() Key { return Key{"call_trace", r.WorkspaceID, r.CallID} }

// Indexes: none.
func (r *TraceRow) Indexes() []string { return nil }

// Sort is by call.
func (r *TraceRow) Sort() string { return r.CallID }

// RawPart are the messages.
func (r *TraceRow) RawPart() []byte { return r.Data }

// SetRawPart sets the messages.
func (r *TraceRow) SetRawPart(part []byte) { r.Data = part }
