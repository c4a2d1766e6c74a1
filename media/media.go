// Package media is the sound of a call: sockets, clocks, codecs, the buffer against jitter, digits, playback, recording and figures.
// It knows no call, no dialog and no actor: it is handed session descriptions as bytes and tells what it hears as events.
package media

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"
)

// What Open, Accept and Answer may fail with; test with errors.Is.
var (
	// ErrNoPorts: every port pair of the range is taken or in quarantine.
	ErrNoPorts = errors.New("media: no free port pair")
	// ErrNoCodec: the descriptions have no codec in common, or offer no sound at all (SIP: 488).
	ErrNoCodec = errors.New("media: nothing in common")
	// ErrBadSDP: the description cannot be read.
	ErrBadSDP = errors.New("media: unreadable session description")
	// ErrRefusedAddress: the description names an address that no sound may be sent to.
	ErrRefusedAddress = errors.New("media: refused address")
	// ErrClosed: the engine or the session is closed.
	ErrClosed = errors.New("media: closed")
)

// Codec is one way to write sound.
type Codec uint8

// The codecs, all of 8 kHz and one channel (RFC 3551).
const (
	PCMU Codec = iota
	PCMA
)

// String names the codec as SDP does, "PCMU/8000".
func (c Codec) String() string {
	if c == PCMA {
		return "PCMA/8000"
	}
	return "PCMU/8000"
}

// sampleRate is the media clock, in samples (and, with G.711, bytes) a second.
const sampleRate = 8000

// Clip is sound ready to be sent: 8 kHz mono µ-law samples. It is never changed, so many calls may play one.
type Clip []byte

// Duration is how long the clip sounds.
func (c Clip) Duration() time.Duration { return samples(len(c)) }

// samples is the time that n samples take.
func samples[N int | uint64](n N) time.Duration {
	return time.Duration(n) * (time.Second / sampleRate)
}

// Config says where an engine listens and whom it may reach. The zero value works.
type Config struct {
	BindIP   netip.Addr // sockets bind here; zero: 0.0.0.0
	PublicIP netip.Addr // written into SDP c=; zero: BindIP, or an address of this machine where that is unspecified
	// PortMin and PortMax bound the RTP ports, which are even; RTCP is on the next one. Zero: 20000-29999.
	PortMin, PortMax int
	// MayReach says whether sound may be sent to an address. Our own ports, privileged ports, multicast and unspecified
	// addresses are refused before it is asked; nil allows the rest.
	MayReach func(netip.AddrPort) bool
	// Quarantine is how long a freed port pair rests, so that a stray stream hits nobody; zero: 5 s.
	Quarantine time.Duration
	Log        *slog.Logger // nil: silent
}

// Options are those of one session.
type Options struct {
	Codecs     []Codec        // our order; nil: PCMU, PCMA
	RecordPath string         // "": not recorded; the file begins at Begin
	Networks   []netip.Prefix // further networks that sound may go to and be latched from
	Notify     func(Event)    // must not block; called from the media clock, never twice at once for one session
	IdleAfter  time.Duration  // neither RTP nor RTCP for so long, off hold: Vanished; zero: 60 s
}

// Event is what a session tells its owner.
type Event interface{ mediaEvent() }

// The events.
type (
	// Digit was received by RFC 4733; Key is one of 0-9 * # A-D.
	Digit struct {
		Key      byte
		Duration time.Duration
	}
	// Played ends a Play: at its end, or Interrupted after Heard.
	Played struct {
		ID          uint64
		Interrupted bool
		Heard       time.Duration
	}
	// DigitsSent ends a SendDigits.
	DigitsSent struct{ ID uint64 }
	// Vanished says that the far end has been silent, RTP and RTCP, for Options.IdleAfter. Told once until it is heard again.
	Vanished struct{}
	// SpeechBegan says that somebody has been speaking for 200 ms.
	SpeechBegan struct{}
	// SpeechEnded says that nobody has spoken for 500 ms.
	SpeechEnded struct{}
)

func (Digit) mediaEvent()       {}
func (Played) mediaEvent()      {}
func (DigitsSent) mediaEvent()  {}
func (Vanished) mediaEvent()    {}
func (SpeechBegan) mediaEvent() {}
func (SpeechEnded) mediaEvent() {}

// Recording is the finished file. It is zero when the session was not recorded.
type Recording struct {
	Path     string
	Duration time.Duration
	Err      error
}

// Stats are the figures of one session. Loss, jitter and MOS are those of the sound received, MOS by the E-model
// (ITU-T G.107) and 0 while nothing was received; the interval is the time between two packets sent.
type Stats struct {
	Codec           string        `json:"codec"`
	PacketsSent     uint64        `json:"packets_sent"`
	PacketsReceived uint64        `json:"packets_received"`
	PacketsLost     uint64        `json:"packets_lost"`
	PacketsLate     uint64        `json:"packets_late"`
	PacketsRefused  uint64        `json:"packets_refused"`
	JitterMs        float64       `json:"jitter_ms"`
	LossPercent     float64       `json:"loss_percent"`
	RoundTripMs     float64       `json:"round_trip_ms"`
	MOS             float64       `json:"mos"`
	SentFor         time.Duration `json:"sent_for"`
	ReceivedFor     time.Duration `json:"received_for"`
	IntervalP99Ms   float64       `json:"interval_p99_ms"`
	IntervalMaxMs   float64       `json:"interval_max_ms"`
}
