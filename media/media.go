// Package media is the sound of a call: sockets, clocks, codecs, the buffer against jitter, digits, playback, recording and figures.
// It knows no call, no dialog and no actor: it is handed session descriptions as bytes and tells what it hears as events.
package media

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/wav"
)

// What Open, Accept and Answer may fail with; test with errors.Is.
var (
	// ErrNoPorts: every port pair of the range is taken or in quarantine.
	ErrNoPorts = errors.New("media: no free port pair")
	// ErrNoCodec: the descriptions have no codec in common, or offer no sound at all (SIP: 488).
	ErrNoCodec = errors.New("no codec or encryption in common")
	// ErrBadSDP: the description cannot be read.
	ErrBadSDP = errors.New("unreadable SDP")
	// ErrRefusedAddress: the description names an address that no sound may be sent to.
	ErrRefusedAddress = errors.New("no audio may go to the address in the SDP")
	// ErrConfidential: SRTP is required, and its keys would go through signalling that anybody can read.
	ErrConfidential = errors.New("media: keys need encrypted signalling")
	// ErrClosed: the engine or the session is closed.
	ErrClosed = errors.New("media: closed")
)

// Codec is one way to write sound.
type Codec uint8

// The codecs (RFC 3551, RFC 7587). Whatever the wire carries, the sound within is 8 kHz µ-law: a wideband codec is
// brought to it, and from it, at the edge. Opus exists in builds with the tag "opus" only; elsewhere it is not offered.
const (
	PCMU Codec = iota
	PCMA
	G722
	Opus
)

// String names the codec as SDP does, "PCMU/8000".
func (c Codec) String() string {
	return [...]string{"PCMU/8000", "PCMA/8000", "G722/8000", "opus/48000/2"}[c&3]
}

// SRTPMode says what becomes of sound that is not encrypted, or that is (RFC 3711 with the keys of RFC 4568).
type SRTPMode uint8

// The modes.
const (
	SRTPOff      SRTPMode = iota // sound goes in the clear; an offer that takes nothing else is refused
	SRTPOptional                 // encrypted where the far end can, in the clear elsewhere
	SRTPRequired                 // a description without keys is refused
)

// DTMFMode is the way of key presses.
type DTMFMode uint8

// The ways. What comes in by INFO is taken in every mode, through Session.Pressed.
const (
	DTMFAuto    DTMFMode = iota // as telephone events where both ends take them, in the sound elsewhere, both ways
	DTMFRFC4733                 // as telephone events only
	DTMFInfo                    // sent by INFO through the owner: SendInfo
	DTMFInband                  // in the sound only; telephone events are neither offered nor accepted
)

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
	BindIP   netip.Addr // sockets bind here; zero: 0.0.0.0; "::" takes IPv4 and IPv6
	PublicIP netip.Addr // written into SDP c=; zero: BindIP, or an address of this machine where that is unspecified
	// PortMin and PortMax bound the RTP ports, which are even; RTCP is on the next one. Zero: 20000-29999.
	PortMin, PortMax int
	// MayReach says whether sound may be sent to an address. Our own ports, privileged ports, multicast and unspecified
	// addresses are refused before it is asked; nil allows the rest.
	MayReach func(netip.AddrPort) bool
	// Quarantine is how long a freed port pair rests, so that a stray stream hits nobody; zero: 5 s.
	Quarantine time.Duration
	Recording  wav.Format   // of recordings; zero: µ-law
	Log        *slog.Logger // nil: silent
}

// Options are those of one session.
type Options struct {
	Codecs     []Codec  // our order; nil: PCMU, PCMA
	PTime      int      // ms of sound that a packet carries where they ask for nothing: 10, 20, 30 or 40; zero: 20
	TheirOrder bool     // an offer is answered with the first codec of theirs that we speak, not of ours
	DTMF       DTMFMode // how key presses come and go
	// ComfortNoise says that pauses of ours may be sent as comfort noise (RFC 3389), where they take it. Theirs is always
	// understood.
	ComfortNoise bool
	Answerer     bool // tell who has answered, from Begin on: Answerer, Beep, GreetingOver
	SRTP         SRTPMode
	// Confidential says that the signalling is encrypted, as by TLS. Where it is not, nobody is told a key: SRTPOptional
	// counts as SRTPOff, and Open fails with ErrConfidential on SRTPRequired, unless KeysInClear allows it.
	Confidential, KeysInClear bool
	NAT                       NATMode
	// Address is written into SDP c= for a far end that sees another address of ours than the public one, as in a private
	// network; zero, or where nothing that is sent there comes in: Config.PublicIP, of the far end's family where that is known.
	Address    netip.Addr
	Far        netip.Addr     // where the peer's signalling comes from: audio can be learnt from it
	KeyLife    time.Duration  // how long a key of ours is used before KeyWorn; zero: 1 h
	RecordPath string         // "": not recorded; its time begins at Begin. No file where neither side has any sound
	Networks   []netip.Prefix // further networks that audio may go to and be learnt from
	Notify     func(Event)    // must not block; called from the media clock, never twice at once for one session
	After      *Memo          // the sound of this call was with another process, and goes on here; RecordPath may have its part
	IdleAfter  time.Duration  // neither RTP nor RTCP for so long, off hold: Vanished; zero: 60 s
}

// Event is what a session tells its owner.
type Event interface{ mediaEvent() }

// The events.
type (
	// Digit is a key that was pressed, told once whichever ways it came; Key is one of 0-9 * # A-D.
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
	// SendInfo asks the owner to send an INFO within the dialog: a digit of SendDigits, where DTMFInfo is its way.
	SendInfo struct {
		ContentType string
		Body        []byte
	}
	// Hold says that the far end has changed whom it hears. Deaf: it does not want our sound (sendonly, inactive,
	// c=0.0.0.0); nothing is sent. Mute: it does not mean to send (recvonly, inactive). Neither: the hold is over.
	Hold struct{ Deaf, Mute bool }
	// KeyWorn asks the owner to renew the key of what we send, which has been used for Options.KeyLife or for a million
	// packets: Rekey, and then a new Offer within the dialog. It is told again each 10 minutes until that is done.
	KeyWorn struct{}
	// Vanished says that the far end has been silent, RTP and RTCP, for Options.IdleAfter. Told once until it is heard again
	// or Await. Broken: the session itself has failed and is closed.
	Vanished struct{ Broken bool }
	// SpeechBegan says that somebody has been speaking for 200 ms.
	SpeechBegan struct{}
	// SpeechEnded says that nobody has spoken for 500 ms.
	SpeechEnded struct{}
	// Answerer says who has answered, within 5 s of Begin; told again where it turns out otherwise, as by a beep.
	Answerer struct{ By amd.Class }
	// Beep says that a tone has ended after which a mailbox listens.
	Beep struct{}
	// GreetingOver says that a machine has ended its greeting and has not beeped so far.
	GreetingOver struct{}
)

func (Digit) mediaEvent()        {}
func (Played) mediaEvent()       {}
func (DigitsSent) mediaEvent()   {}
func (SendInfo) mediaEvent()     {}
func (Hold) mediaEvent()         {}
func (KeyWorn) mediaEvent()      {}
func (Vanished) mediaEvent()     {}
func (SpeechBegan) mediaEvent()  {}
func (SpeechEnded) mediaEvent()  {}
func (Answerer) mediaEvent()     {}
func (Beep) mediaEvent()         {}
func (GreetingOver) mediaEvent() {}

// Recording is the finished file. It is zero when the session was not recorded.
type Recording struct {
	Path     string
	Duration time.Duration
	Human    []Span // where a human spoke in place of the agent, on the right
	Gap      error  // why some of it is silence that was sound, or its end is missing; nil: nothing is
	Err      error  // it is lost
}

// Stats are the figures of one session. Loss, jitter and MOS are those of the sound received, MOS by the E-model
// (ITU-T G.107) and 0 while nothing was received; the interval is the time between two packets sent.
type Stats struct {
	Codec           string        `json:"codec"`
	SRTP            string        `json:"srtp"` // the suite, as "AES_CM_128_HMAC_SHA1_80"; "": in the clear
	PacketsSent     uint64        `json:"packets_sent"`
	PacketsReceived uint64        `json:"packets_received"`
	PacketsLost     uint64        `json:"packets_lost"`
	PacketsLate     uint64        `json:"packets_late"`
	PacketsRepeated uint64        `json:"packets_repeated"` // copies, which count as neither received nor late
	PacketsRefused  uint64        `json:"packets_refused"`
	JitterMs        float64       `json:"jitter_ms"`
	LossPercent     float64       `json:"loss_percent"`
	RoundTripMs     float64       `json:"round_trip_ms"`
	MOS             float64       `json:"mos"`
	SentFor         time.Duration `json:"sent_for"`
	ReceivedFor     time.Duration `json:"received_for"`
	IntervalP99Ms   float64       `json:"interval_p99_ms"`
	IntervalMaxMs   float64       `json:"interval_max_ms"`
	AudioIssue      string        `json:"audio_issue"` // why nothing was heard, as a sentence; "": something was, or nothing was to be
	Recorded        bool          `json:"recorded"`    // there is, or will be, a Recording with a file
	Course          []Stretch     `json:"course"`      // forty at most, one after the other
}
