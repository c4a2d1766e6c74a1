package dtmf

// Press is one key press. Samples is its duration, in units of the clock of the telephone event or of the audio.
type Press struct {
	Key     byte
	Samples uint32
}

const (
	patience = 1200   // samples of 8 kHz without a packet that end a press: its end packets were lost
	longest  = 0xFFFF // maximum of the duration field
	reorder  = 3      // packets by which a packet may be out of order
	lateMost = 8000   // samples by which a packet may be late; beyond that, the sequence number has wrapped
)

// Receiver turns packets of telephone events (RFC 4733) into key presses. It reports each press once in spite of lost,
// repeated or reordered packets. It does not rely on the timestamp alone: some senders change the timestamp within
// a press, others use one timestamp for all presses. The zero value is ready.
type Receiver struct {
	last        press
	hasLast     bool  // last is valid
	open        bool  // the end of the last press has not arrived
	quiet       int32 // samples since the last packet of the last press
	audioSeq    uint16
	hasAudioSeq bool    // audioSeq is the sequence number of audio after the last event packet
	past        [4]span // presses that were reported
	next        uint8
}

// span is the range of sequence numbers of a press. Packets between first and newest may be missing.
type span struct {
	ssrc          uint32
	first, newest uint16
	code          uint8
	used          bool
}

// press is the state of a received press.
type press struct {
	span
	stamp    uint32 // timestamp of the newest packet
	duration uint32 // duration in the current segment
	before   uint32 // duration in earlier segments of a long press (RFC 4733 §2.5.1.3)
}

// EventPacket is a received RTP packet with a telephone event payload.
type EventPacket struct {
	SSRC, Timestamp uint32
	Seq             uint16
	Payload         []byte
}

// AddAudioPacket records that an audio packet arrived. Audio between event packets separates two presses of the same key.
func (r *Receiver) AddAudioPacket(seq uint16) {
	if r.hasLast && int16(seq-r.last.newest) > 0 { //nolint:gosec // modular
		r.audioSeq, r.hasAudioSeq = seq, true
	}
}

// AddEventPacket processes a packet with a telephone event. It returns true and the key press if a press has ended.
func (r *Receiver) AddEventPacket(p EventPacket) (Press, bool) {
	e, ok := Parse(p.Payload)
	if !ok || int(e.Code) >= len(keys) {
		return Press{}, false
	}
	if r.hasLast && r.last.ssrc == p.SSRC && r.quiet < lateMost && int16(p.Seq-r.last.newest) <= 0 { //nolint:gosec // modular
		return r.takeLate(p, e)
	}
	if r.hasLast && r.last.ssrc == p.SSRC && r.last.code == e.Code && !r.startsPress(p, e) {
		return r.continuePress(p, e)
	}
	ended, was := r.endPress()
	r.last = press{spanOf(p, e), p.Timestamp, uint32(e.Duration), 0}
	r.hasLast, r.open, r.quiet, r.hasAudioSeq = true, true, 0, false
	switch {
	case !e.End:
		return ended, was
	case !was:
		return r.endPress()
	}
	r.quiet = patience // the next Pass reports the press
	return ended, true
}

// startsPress says whether a packet starts another press of the same key. The packet is the newest so far.
func (r *Receiver) startsPress(p EventPacket, e Event) bool {
	parted := r.hasAudioSeq && int16(p.Seq-r.audioSeq) > 0 || r.quiet >= patience //nolint:gosec // modular
	anew := uint32(e.Duration) < r.last.duration
	apart := int32(p.Timestamp-r.last.stamp) >= int32(r.last.duration) //nolint:gosec // modular
	switch {
	case r.last.duration == longest && p.Timestamp == r.last.stamp+longest:
		return false // the next segment
	case r.open:
		return anew && (parted || apart)
	case e.End:
		return parted && apart // a press whose other packets were lost; otherwise a repeated end packet
	}
	return parted && anew || parted && apart || anew && apart
}

// continuePress processes a further packet of the most recent press and returns the press if this packet ends it.
func (r *Receiver) continuePress(p EventPacket, e Event) (Press, bool) {
	l := &r.last
	if l.duration == longest && p.Timestamp == l.stamp+longest {
		l.before, l.duration = l.before+longest, 0
	}
	l.newest, l.stamp = p.Seq, p.Timestamp
	if !r.open {
		return Press{}, false
	}
	l.duration = max(l.duration, uint32(e.Duration))
	r.quiet, r.hasAudioSeq = 0, false
	if !e.End {
		return Press{}, false
	}
	return r.endPress()
}

// takeLate processes a packet that arrives out of order. If the packet belongs to no known press, it is the only
// received packet of its press, and takeLate returns that press.
func (r *Receiver) takeLate(p EventPacket, e Event) (Press, bool) {
	if l := &r.last; l.contains(p, e) {
		if int16(p.Seq-l.first) < 0 { //nolint:gosec // modular
			l.first = p.Seq
		}
		if r.open {
			l.duration = max(l.duration, uint32(e.Duration))
		}
		return Press{}, false
	}
	for i := range r.past {
		if was := &r.past[i]; was.used && was.contains(p, e) {
			return Press{}, false
		}
	}
	r.remember(spanOf(p, e))
	return Press{keys[e.Code], uint32(e.Duration)}, true
}

// contains says whether a packet belongs to the press, by its stream, key and sequence number.
func (l *span) contains(p EventPacket, e Event) bool {
	return l.ssrc == p.SSRC && l.code == e.Code && int16(p.Seq-l.first) >= -reorder && int16(p.Seq-l.newest) <= reorder //nolint:gosec // modular
}

// AdvanceTime advances the time by n samples of 8 kHz. It returns true and the press if a press without end packets times out.
func (r *Receiver) AdvanceTime(n int) (Press, bool) {
	if r.quiet < lateMost {
		r.quiet += int32(n) //nolint:gosec // a frame
	}
	if !r.open || r.quiet < patience {
		return Press{}, false
	}
	return r.endPress()
}

// endPress ends the current press and returns it, or returns false if no press is in progress.
func (r *Receiver) endPress() (Press, bool) {
	if !r.open {
		return Press{}, false
	}
	r.open = false
	r.remember(r.last.span)
	return Press{keys[r.last.code], r.last.before + r.last.duration}, true
}

func (r *Receiver) remember(s span) {
	r.past[r.next], r.next = s, (r.next+1)%uint8(len(r.past))
}

func spanOf(p EventPacket, e Event) span {
	return span{ssrc: p.SSRC, first: p.Seq, newest: p.Seq, code: e.Code, used: true}
}
