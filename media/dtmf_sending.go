package media

import (
	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/tone"
)

// digitSender sends DTMF digits as telephone events, as SIP INFO requests of the session's owner, or as audio tones.
type digitSender struct {
	active  bool // telephone events are being sent, or requested as SIP INFO
	relayed bool // the digits come from the other side of a bridge, so DigitsSent is not reported
	id      uint64
	queue   dtmf.Sender
	tones   []byte
}

// isSending says whether digits are being sent, as telephone events, SIP INFO or tones.
func (d *digitSender) isSending() bool { return d.active || len(d.tones) > 0 }

// start begins sending digits and discards digits that were not sent yet. inband sends them as tones.
func (d *digitSender) start(id uint64, digits string, inband bool, events *eventList) {
	*d = digitSender{id: id}
	switch {
	case !d.queue.Start(digits):
		events.add(DigitsSent{ID: id})
	case inband:
		d.tones, d.queue = tone.Keys(digits), dtmf.Sender{}
	default:
		d.active = true
	}
}

// relay appends digits that come from the other peer of a bridge to the digits being sent.
func (d *digitSender) relay(digits string, inband bool) {
	if !d.isSending() {
		d.relayed = true
	}
	if inband {
		d.tones = append(d.tones, tone.Keys(digits)...)
		return
	}
	d.queue.Add(digits)
	d.active = true
}

// fillTones copies the next DTMF tones into a frame and returns how many samples it filled.
func (d *digitSender) fillTones(right []byte, events *eventList) (n int) {
	n = copy(right, d.tones)
	if d.tones = d.tones[n:]; len(d.tones) == 0 {
		d.reportEnd(events)
	}
	return n
}

func (d *digitSender) reportEnd(events *eventList) {
	if !d.relayed {
		events.add(DigitsSent{ID: d.id})
	}
}

// changeToTones sends the remaining digits as tones, after the peer's SDP turned out to offer no telephone events.
func (d *digitSender) changeToTones() {
	d.active, d.tones, d.queue = false, tone.Keys(d.queue.RemainingDigits()), dtmf.Sender{}
}

// nextEvent returns the telephone event packet of this frame, if any. With info, it returns none and adds an event that
// asks the session's owner to send the digit by SIP INFO.
func (d *digitSender) nextEvent(stamp uint32, n int, info bool, events *eventList) (dtmf.Packet, bool) {
	p, ok := d.queue.Next(stamp, n)
	if !d.queue.Busy() {
		d.active = false
		d.reportEnd(events)
	}
	if info {
		if ok && p.Marker {
			events.add(SendInfo{ContentType: dtmf.InfoType, Body: dtmf.InfoBody(p.Event.Code)})
		}
		return dtmf.Packet{}, false
	}
	return p, ok
}

// SendDigits sends DTMF digits by the method of Options.DTMF and discards digits that were not sent yet. Playback waits
// until all digits are sent. 'w' and ',' pause for half a second.
func (s *Session) SendDigits(id uint64, digits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.digits.start(id, digits, s.desc.sendsTones(s.o.DTMF), &s.events)
	}
}

// nextEvent returns the telephone event packet of this frame, if any. If the peer accepts no telephone events, the
// remaining digits become tones.
func (s *Session) nextEvent(stamp uint32, n int) (dtmf.Packet, bool) {
	if !s.digits.active {
		return dtmf.Packet{}, false
	}
	if s.desc.sendsTones(s.o.DTMF) {
		s.digits.changeToTones()
		return dtmf.Packet{}, false
	}
	return s.digits.nextEvent(stamp, n, s.o.DTMF == DTMFInfo, &s.events)
}
