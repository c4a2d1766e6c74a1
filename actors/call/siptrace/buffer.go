// Package siptrace keeps the SIP messages of live calls in memory. When a call ends, the call stores them. The memory per
// dialog is limited, and so is the memory for dialogs that are not assigned to a call.
package siptrace

import (
	"cmp"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// Limits of the stored SIP messages. An INVITE arrives before its call exists, so a dialog is first without a call.
const (
	maxMessages       = 200
	maxBytes          = 96 << 10
	firstMessages     = 20       // messages at the beginning of a dialog that are never dropped
	maxUnclaimedBytes = 24 << 10 // of a dialog without a call
	maxRowBytes       = 24 << 10 // of a call, in the row of its attempt
	shardCount        = 64
	maxUnclaimed      = 128 // dialogs without a call, per shard
)

// Buffer holds the SIP messages of live calls. Add runs for every SIP message. A nil *Buffer holds nothing. Its
// methods are safe for concurrent use.
type Buffer struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

type shard struct {
	mu        sync.Mutex
	dialogs   map[string][]*dialogTrace // by Call-ID; two peers may choose the same Call-ID
	unclaimed []*dialogTrace            // dialogs that began without a call, oldest first
}

// dialogTrace holds the messages of one dialog.
type dialogTrace struct {
	callID   string
	tag      string // as in sip.TracedMessage.Tag
	owner    string // ID of the call that has claimed the dialog; "": none
	messages []sip.TracedMessage
	bytes    int
	dropped  int
	local    addressText // usually the same in all messages
	remote   addressText
}

// addressText caches the text form of the address that was formatted last.
type addressText struct {
	addr netip.AddrPort
	text string
}

func (c *addressText) format(a netip.AddrPort) string {
	if a != c.addr || c.text == "" {
		c.addr, c.text = a, a.String()
	}
	return c.text
}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer {
	b := &Buffer{seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].dialogs = make(map[string][]*dialogTrace)
	}
	return b
}

func (b *Buffer) shard(callID string) *shard {
	return &b.shards[maphash.String(b.seed, callID)%shardCount]
}

// Add records a SIP message of the dialog with this Call-ID. Add has the signature of sip.Trace.
func (b *Buffer) Add(callID string, m sip.TracedMessage) {
	s := b.shard(callID)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(callID, m.Tag)
	if d == nil {
		d = s.addUnclaimed(callID, m.Tag)
	}
	d.add(m)
}

func (s *shard) find(callID, tag string) *dialogTrace {
	for _, d := range s.dialogs[callID] {
		if d.tag == tag {
			return d
		}
	}
	return nil
}

func (s *shard) add(callID, tag string) *dialogTrace {
	d := &dialogTrace{callID: callID, tag: tag}
	s.dialogs[callID] = append(s.dialogs[callID], d)
	return d
}

func (s *shard) remove(d *dialogTrace) {
	left := slices.DeleteFunc(s.dialogs[d.callID], func(o *dialogTrace) bool { return o == d })
	if len(left) == 0 {
		delete(s.dialogs, d.callID)
	} else {
		s.dialogs[d.callID] = left
	}
}

// addUnclaimed starts the trace of a dialog without a call. If there are more than maxUnclaimed, it drops the oldest.
func (s *shard) addUnclaimed(callID, tag string) *dialogTrace {
	d := s.add(callID, tag)
	s.unclaimed = append(s.unclaimed, d)
	if len(s.unclaimed) > maxUnclaimed {
		if oldest := s.unclaimed[0]; oldest.owner == "" {
			s.remove(oldest)
		}
		s.unclaimed = append(s.unclaimed[:0], s.unclaimed[1:]...)
	}
	return d
}

// add appends a SIP message. Above the limits it drops the oldest message, but never one of the first firstMessages.
func (d *dialogTrace) add(m sip.TracedMessage) {
	most := maxBytes
	if d.owner == "" {
		most = maxUnclaimedBytes
	}
	if len(m.Data) > maxBytes/4 {
		d.dropped++
		return
	}
	for len(d.messages) > firstMessages && (len(d.messages) >= maxMessages || d.bytes+len(m.Data) > most) {
		d.bytes -= len(d.messages[firstMessages].Data)
		d.messages = append(d.messages[:firstMessages], d.messages[firstMessages+1:]...)
		d.dropped++
	}
	if d.bytes+len(m.Data) > most {
		d.dropped++
		return
	}
	d.bytes += len(m.Data)
	d.messages = append(d.messages, m)
}

// AssignDialog assigns a dialog to the call with the ID owner. The dialog's messages stay until TakeTrace, and no other call gets
// them. tag has the same meaning as sip.TracedMessage.Tag.
func (b *Buffer) AssignDialog(owner, sipCallID, tag string) {
	if b == nil || sipCallID == "" {
		return
	}
	s := b.shard(sipCallID)
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

// CountDialogs returns the number of dialogs that are assigned to a call and the number of those that are not.
func (b *Buffer) CountDialogs() (claimed, unclaimed int) {
	if b == nil {
		return 0, 0
	}
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		for _, all := range s.dialogs {
			for _, d := range all {
				if d.owner != "" {
					claimed++
				} else {
					unclaimed++
				}
			}
		}
		s.mu.Unlock()
	}
	return claimed, unclaimed
}

// Trace returns the SIP messages so far of a live call's dialogs, or nil if there are none.
func (b *Buffer) Trace(c *domain.Call) *domain.CallTrace { return b.collect(c, false) }

// TakeTrace removes the SIP messages of a call's dialogs from the buffer. It returns them as a database row, or nil if
// there are none.
func (b *Buffer) TakeTrace(c *domain.Call) *domain.TraceRow {
	if all := b.collect(c, true); all != nil {
		return all.Pack()
	}
	return nil
}

// AttemptTrace returns the SIP messages so far of a live call's dialogs, in the format of domain.Attempt.Trace. It returns
// nil if there are none.
func (b *Buffer) AttemptTrace(c *domain.Call) []byte {
	if b == nil {
		return nil
	}
	var out []byte
	for i := range c.Legs {
		out = b.appendDialogs(out, c.ID, c.Legs[i].SIPCallID, "")
	}
	return out
}

// UnclaimedAttemptTrace returns the same as AttemptTrace for a dialog that no call has assigned with AssignDialog. tag has the
// same meaning as sip.TracedMessage.Tag.
func (b *Buffer) UnclaimedAttemptTrace(sipCallID, tag string) []byte {
	if b == nil {
		return nil
	}
	return b.appendDialogs(nil, "", sipCallID, tag)
}

// appendDialogs appends the messages of all dialogs of the call owner. If owner is "", it appends those of the unclaimed
// dialog with the tag.
func (b *Buffer) appendDialogs(out []byte, owner, sipCallID, tag string) []byte {
	s := b.shard(sipCallID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.dialogs[sipCallID] {
		if d.owner == owner && (owner != "" || d.tag == tag) {
			out = d.appendTo(slices.Grow(out, min(d.bytes+160*len(d.messages), maxRowBytes)))
		}
	}
	return out
}

// appendTo appends the messages in their stored format until out has maxRowBytes.
func (d *dialogTrace) appendTo(out []byte) []byte {
	for i := range d.messages {
		if m := d.message(i); len(out)+len(m.Data) <= maxRowBytes {
			out = m.Append(out)
		}
	}
	return out
}

func (b *Buffer) collect(c *domain.Call, last bool) *domain.CallTrace {
	if b == nil {
		return nil
	}
	out := &domain.CallTrace{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	for i := range c.Legs {
		b.collectDialogs(out, c.Legs[i].SIPCallID, last)
	}
	if len(c.Legs) > 1 {
		slices.SortStableFunc(out.Messages, func(a, b domain.SIPMessage) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	}
	if len(out.Messages) == 0 && out.Dropped == 0 {
		return nil
	}
	return out
}

func (b *Buffer) collectDialogs(out *domain.CallTrace, sipCallID string, last bool) {
	s := b.shard(sipCallID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Clone(s.dialogs[sipCallID]) {
		if d.owner == out.CallID {
			d.appendMessages(out)
			if last {
				s.remove(d)
				d.messages = nil // the list of unclaimed dialogs may still refer to d
			}
		}
	}
}

func (d *dialogTrace) appendMessages(out *domain.CallTrace) {
	out.Messages = slices.Grow(out.Messages, len(d.messages))
	for i := range d.messages {
		out.Messages = append(out.Messages, d.message(i))
	}
	out.Dropped += d.dropped
}

func (d *dialogTrace) message(i int) domain.SIPMessage {
	m := &d.messages[i]
	return domain.SIPMessage{
		At: m.At, Out: m.Out, Network: m.Network, Local: d.local.format(m.Local), Remote: d.remote.format(m.Remote), SIPCallID: d.callID, Data: m.Data,
	}
}
