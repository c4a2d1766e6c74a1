package call

import (
	"cmp"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// Bounds of what is kept of a dialog, and of dialogs that no call has claimed:
// an INVITE is heard before its call exists.
const (
	traceMessages = 200
	traceBytes    = 96 << 10
	traceFirst    = 20       // messages that stay whatever follows
	traceStray    = 24 << 10 // bytes of a dialog that no call has claimed
	traceSafe     = 24 << 10 // bytes that a crash leaves of a call
	traceShards   = 64
	traceStrays   = 128 // per shard
)

// Traces keeps the SIP messages of live calls in memory. Its Note stands on
// the path of every message; a nil *Traces keeps nothing.
type Traces struct {
	seed   maphash.Seed
	shards [traceShards]traceShard
}

type traceShard struct {
	mu     sync.Mutex
	of     map[string][]*dialogTrace // by Call-ID: callers choose theirs, and may choose another one's
	strays []*dialogTrace            // not claimed when they began, oldest first
}

// dialogTrace is one dialog's.
type dialogTrace struct {
	callID   string
	tag      string // sip.TracedMessage.Tag
	owner    string // the call that has claimed it, "" before
	messages []sip.TracedMessage
	bytes    int
	dropped  int
	local    written // mostly the same in all messages
	remote   written
}

// written is an address and how it is written.
type written struct {
	addr netip.AddrPort
	text string
}

func (w *written) of(a netip.AddrPort) string {
	if a != w.addr || w.text == "" {
		w.addr, w.text = a, a.String()
	}
	return w.text
}

// NewTraces makes an empty store.
func NewTraces() *Traces {
	t := &Traces{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].of = make(map[string][]*dialogTrace)
	}
	return t
}

func (t *Traces) shard(callID string) *traceShard {
	return &t.shards[maphash.String(t.seed, callID)%traceShards]
}

// Note keeps a message: sip.Config.Trace.
func (t *Traces) Note(callID string, m sip.TracedMessage) {
	s := t.shard(callID)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(callID, m.Tag)
	if d == nil {
		d = s.stray(callID, m.Tag)
	}
	d.note(m)
}

func (s *traceShard) find(callID, tag string) *dialogTrace {
	for _, d := range s.of[callID] {
		if d.tag == tag {
			return d
		}
	}
	return nil
}

func (s *traceShard) add(callID, tag string) *dialogTrace {
	d := &dialogTrace{callID: callID, tag: tag}
	s.of[callID] = append(s.of[callID], d)
	return d
}

func (s *traceShard) remove(d *dialogTrace) {
	left := slices.DeleteFunc(s.of[d.callID], func(o *dialogTrace) bool { return o == d })
	if len(left) == 0 {
		delete(s.of, d.callID)
	} else {
		s.of[d.callID] = left
	}
}

// stray begins the trace of a dialog that no call has claimed yet.
func (s *traceShard) stray(callID, tag string) *dialogTrace {
	d := s.add(callID, tag)
	s.strays = append(s.strays, d)
	if len(s.strays) > traceStrays {
		if old := s.strays[0]; old.owner == "" {
			s.remove(old)
		}
		s.strays = append(s.strays[:0], s.strays[1:]...)
	}
	return d
}

// note adds a message. The first ones stay; the oldest of the others make room.
func (d *dialogTrace) note(m sip.TracedMessage) {
	most := traceBytes
	if d.owner == "" {
		most = traceStray
	}
	if len(m.Data) > traceBytes/4 {
		d.dropped++
		return
	}
	for len(d.messages) > traceFirst && (len(d.messages) >= traceMessages || d.bytes+len(m.Data) > most) {
		d.bytes -= len(d.messages[traceFirst].Data)
		d.messages = append(d.messages[:traceFirst], d.messages[traceFirst+1:]...)
		d.dropped++
	}
	if d.bytes+len(m.Data) > most {
		d.dropped++
		return
	}
	d.bytes += len(m.Data)
	d.messages = append(d.messages, m)
}

// Keep claims a dialog for a call: its trace stays until Take, and no other
// call sees it. tag is sip.TracedMessage.Tag.
func (t *Traces) Keep(owner, sipCallID, tag string) {
	if t == nil || sipCallID == "" {
		return
	}
	s := t.shard(sipCallID)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(sipCallID, tag)
	if d == nil {
		d = s.add(sipCallID, tag)
	}
	if d.owner == "" {
		d.owner = owner
	}
}

// Held counts the dialogs that are kept: those of live calls, and those that
// no call has claimed.
func (t *Traces) Held() (claimed, strays int) {
	if t == nil {
		return 0, 0
	}
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, all := range s.of {
			for _, d := range all {
				if d.owner != "" {
					claimed++
				} else {
					strays++
				}
			}
		}
		s.mu.Unlock()
	}
	return claimed, strays
}

// Of is what a live call's dialogs have said so far.
func (t *Traces) Of(c *domain.Call) *domain.CallTrace { return t.gather(c, false) }

// Take is Of for a call that is over: nothing of it stays. nil: nothing was
// said.
func (t *Traces) Take(c *domain.Call) *domain.TraceRow {
	if all := t.gather(c, true); all != nil {
		return all.Pack()
	}
	return nil
}

// Safe is what a live call's dialogs have said so far, for its attempt's row;
// nil: nothing.
func (t *Traces) Safe(c *domain.Call) []byte {
	if t == nil {
		return nil
	}
	var out []byte
	for i := range c.Legs {
		out = t.safe(out, c.ID, c.Legs[i].SIPCallID, "")
	}
	return out
}

// Begun is Safe for a call that came in and has claimed nothing yet. tag is
// sip.TracedMessage.Tag.
func (t *Traces) Begun(sipCallID, tag string) []byte {
	if t == nil {
		return nil
	}
	return t.safe(nil, "", sipCallID, tag)
}

// safe adds the dialogs of an owner, or the one of a tag that nobody owns.
func (t *Traces) safe(out []byte, owner, sipCallID, tag string) []byte {
	s := t.shard(sipCallID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.of[sipCallID] {
		if d.owner == owner && (owner != "" || d.tag == tag) {
			out = d.appendTo(slices.Grow(out, min(d.bytes+160*len(d.messages), traceSafe)))
		}
	}
	return out
}

// appendTo adds the messages as they are kept at rest, the first ones as far as
// there is room.
func (d *dialogTrace) appendTo(out []byte) []byte {
	for i := range d.messages {
		if m := d.message(i); len(out)+len(m.Data) <= traceSafe {
			out = m.Append(out)
		}
	}
	return out
}

func (t *Traces) gather(c *domain.Call, last bool) *domain.CallTrace {
	if t == nil {
		return nil
	}
	out := &domain.CallTrace{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	for i := range c.Legs {
		t.gatherOne(out, c.Legs[i].SIPCallID, last)
	}
	if len(c.Legs) > 1 {
		slices.SortStableFunc(out.Messages, func(a, b domain.SIPMessage) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	}
	if len(out.Messages) == 0 && out.Dropped == 0 {
		return nil
	}
	return out
}

func (t *Traces) gatherOne(out *domain.CallTrace, sipCallID string, last bool) {
	s := t.shard(sipCallID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Clone(s.of[sipCallID]) {
		if d.owner == out.CallID {
			d.gather(out)
			if last {
				s.remove(d)
				d.messages = nil // it may stand among the strays still
			}
		}
	}
}

func (d *dialogTrace) gather(out *domain.CallTrace) {
	out.Messages = slices.Grow(out.Messages, len(d.messages))
	for i := range d.messages {
		out.Messages = append(out.Messages, d.message(i))
	}
	out.Dropped += d.dropped
}

func (d *dialogTrace) message(i int) domain.SIPMessage {
	m := &d.messages[i]
	return domain.SIPMessage{
		At: m.At, Out: m.Out, Network: m.Network, Local: d.local.of(m.Local), Remote: d.remote.of(m.Remote), SIPCallID: d.callID, Data: m.Data,
	}
}
