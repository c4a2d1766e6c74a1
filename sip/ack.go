package sip

import "time"

// ackWithin is how long an ACK may be held back. The far end repeats its
// answer meanwhile, for 32 s; a store that is slow must not leave a call that
// only a crashed process knew of.
const ackWithin = 3 * time.Second

// holdAck keeps the ACK of a 2xx for Ack, for whatever ends the call, or for
// the end of its time.
func (d *Dialog) holdAck(m *received) {
	d.keepAck(m)
	d.after(ackWithin, d.flushAck)
}

func (d *Dialog) keepAck(m *received) {
	if d.acks == nil {
		d.acks = make(map[string]*sentAck, 1)
	}
	d.acks[ackKey(m)] = &sentAck{} // a copy of this answer is no fork
	far := d.far
	d.unacked = func() {
		body := d.owedBody
		d.owed, d.owedBody = false, nil
		d.acknowledge(far, m, body, func() {})
	}
}

func (d *Dialog) flushAck() {
	if send := d.unacked; send != nil {
		d.unacked = nil
		send()
	}
}

// Ack sends the ACK that Invite.HoldAck holds back, if it has not gone.
func (d *Dialog) Ack() {
	d.do(func() {
		if !d.owed {
			d.flushAck()
		}
	})
}
