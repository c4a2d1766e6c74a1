package domain

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

var _ PackedRecord = (*Delivery)(nil)

// Flags for the optional fields of a packed delivery. ReadPacked rejects records with unknown flags, because a newer
// version of the program wrote them.
const (
	packedReplay    = 1 << iota
	packedAttempted // attempts, status and response time
	packedError
	packedFirst // first of the four times
	packedKnown = 1<<(3+4) - 1
)

// packedStates lists the delivery states by the number, from 1, that stands for the state in the packed form. The
// number 0 means that the state follows as text.
var packedStates = []DeliveryState{DeliveryQueued, DeliveryRetrying, DeliveryDelivered, DeliveryFailed} //nolint:gochecknoglobals // a table

// timePointers returns pointers to the optional times in the order in which they are packed.
func (d *Delivery) timePointers() [4]**time.Time {
	return [...]**time.Time{&d.FirstAttemptAt, &d.LastAttemptAt, &d.DueAt, &d.DeliveredAt}
}

// AppendPacked implements PackedRecord. It omits the IDs of workspace, endpoint and event, which the store key
// contains.
func (d *Delivery) AppendPacked(b []byte) []byte {
	flags := uint64(0)
	if d.Replay {
		flags |= packedReplay
	}
	tried := d.Attempts != 0 || d.ResponseStatus != 0 || d.ResponseTimeMs != 0
	if tried {
		flags |= packedAttempted
	}
	if d.Error != "" {
		flags |= packedError
	}
	for i, t := range d.timePointers() {
		if *t != nil {
			flags |= packedFirst << i
		}
	}
	b = binary.AppendUvarint(b, flags)
	b = packText(b, d.ID)
	b = packText(b, d.EventType)
	b = binary.AppendUvarint(b, d.EventOffset)
	b = packText(b, d.Subject)
	state := slices.Index(packedStates, d.State) + 1
	if b = append(b, byte(state)); state == 0 { //nolint:gosec // one of a few
		b = packText(b, string(d.State))
	}
	b = packTime(b, d.CreatedAt, 0)
	if tried {
		b = binary.AppendVarint(b, int64(d.Attempts))
		b = binary.AppendVarint(b, int64(d.ResponseStatus))
		b = binary.AppendVarint(b, d.ResponseTimeMs)
	}
	if d.Error != "" {
		b = packText(b, d.Error)
	}
	for _, t := range d.timePointers() {
		if *t != nil {
			b = packTime(b, **t, d.CreatedAt.Unix())
		}
	}
	return b
}

// ReadPacked implements PackedRecord.
func (d *Delivery) ReadPacked(k Key, packed []byte) bool {
	hook, event, ok := strings.Cut(k.ID, "/")
	u := newUnpacker(packed)
	flags := u.count()
	unpacked := Delivery{
		WorkspaceID: k.Workspace, WebhookID: hook, EventID: event, Replay: flags&packedReplay != 0,
		ID: u.text(), EventType: u.text(), EventOffset: u.count(), Subject: u.text(),
	}
	unpacked.State = readPackedState(&u)
	unpacked.CreatedAt = u.time(0)
	if flags&packedAttempted != 0 {
		unpacked.Attempts, unpacked.ResponseStatus, unpacked.ResponseTimeMs = int(u.int()), int(u.int()), u.int()
	}
	if flags&packedError != 0 {
		unpacked.Error = u.text()
	}
	for i, t := range unpacked.timePointers() {
		if flags&(packedFirst<<i) != 0 {
			at := u.time(unpacked.CreatedAt.Unix())
			*t = &at
		}
	}
	if !ok || flags > packedKnown || !u.end() {
		return false
	}
	*d = unpacked
	return true
}

func readPackedState(u *unpacker) DeliveryState {
	switch n := u.count(); {
	case n == 0:
		return DeliveryState(u.text())
	case n <= uint64(len(packedStates)):
		return packedStates[n-1]
	}
	u.failed = true
	return ""
}
