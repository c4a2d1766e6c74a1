package dtmf

// Durations of sent digits, in samples of 8 kHz, and limits of the sender.
const (
	toneLen  = 800  // 100 ms
	gapLen   = 480  // 60 ms, after the last end packet
	pauseLen = 4000 // 500 ms for 'w' or ','
	endTimes = 3
	volume   = 10
	maxKeys  = 128
)

// Packet is the telephone event that is to be sent in a frame, with its RTP timestamp and marker bit.
type Packet struct {
	Event     Event
	Timestamp uint32
	Marker    bool
}

// Sender sends digits frame by frame. 'w' and ',' pause for half a second; other characters are ignored. The zero
// value is idle.
type Sender struct {
	digits string
	at     int
	stamp  uint32
	sent   int // samples of the tone so far
	ends   int // end packets so far
	wait   int // samples of silence to wait
}

// Start discards the digits not sent yet and begins to send new ones. It returns false if there is no digit to send.
func (s *Sender) Start(digits string) bool {
	*s = Sender{digits: sendableDigits(digits)}
	return s.Busy()
}

// Add sends more digits after the current ones.
func (s *Sender) Add(digits string) { s.digits += sendableDigits(digits) }

// sendableDigits returns the DTMF and pause characters of digits, at most maxKeys, and drops all others.
func sendableDigits(digits string) string {
	kept := make([]byte, 0, min(len(digits), maxKeys))
	for i := 0; i < len(digits) && len(kept) < maxKeys; i++ {
		if _, ok := Code(digits[i]); ok || isPause(digits[i]) {
			kept = append(kept, digits[i])
		}
	}
	return string(kept)
}

// Busy says whether digits, or the gap after the last digit, remain to be sent.
func (s *Sender) Busy() bool { return s.at < len(s.digits) || s.wait > 0 }

// Next returns the packet for a frame of n samples that begins at timestamp. It returns false if the frame has none.
func (s *Sender) Next(timestamp uint32, n int) (Packet, bool) {
	if s.wait > 0 {
		s.wait = max(s.wait-n, 0)
		return Packet{}, false
	}
	if s.at >= len(s.digits) {
		return Packet{}, false
	}
	if isPause(s.digits[s.at]) {
		s.at++
		s.wait = max(pauseLen-n, 0)
		return Packet{}, false
	}
	code, _ := Code(s.digits[s.at])
	p := Packet{Event: Event{Code: code, Volume: volume}}
	if s.sent == 0 {
		s.stamp, p.Marker = timestamp, true
	}
	p.Timestamp = s.stamp
	if s.ends == 0 {
		s.sent += n
	}
	p.Event.Duration = uint16(s.sent) //nolint:gosec // below 1200
	if s.sent >= toneLen {
		p.Event.End = true
		if s.ends++; s.ends == endTimes {
			s.at++
			s.sent, s.ends, s.wait = 0, 0, gapLen
		}
	}
	return p, true
}

func isPause(c byte) bool { return c == 'w' || c == ',' }

// RemainingDigits returns the digits that are not completely sent.
func (s *Sender) RemainingDigits() string { return s.digits[s.at:] }
