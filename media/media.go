// Package media is the RTP media engine of a call: sockets, media clocks, codecs, jitter buffer, DTMF, playback,
// recording and statistics.
//
// The package does not depend on calls, dialogs or actors. The owner of a session passes SDP as bytes and receives
// events.
package media

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/wav"
)

// Errors of Engine.Open, Session.Accept and Session.Answer. Callers compare them with errors.Is.
var (
	// ErrNoPorts says that every RTP port pair of the range is used or in quarantine.
	ErrNoPorts = errors.New("media: no free port pair")
	// ErrNoCodec says that offer and answer have no codec in common, or that the peer's SDP has no audio (SIP: 488).
	ErrNoCodec = errors.New("no codec or encryption in common")
	// ErrBadSDP says that the SDP cannot be parsed.
	ErrBadSDP = errors.New("unreadable SDP")
	// ErrRefusedAddress says that the SDP names an address to which the engine may not send audio.
	ErrRefusedAddress = errors.New("no audio may go to the address in the SDP")
	// ErrConfidential says that SRTP is required, but its keys would pass through unencrypted signalling.
	ErrConfidential = errors.New("media: SRTP keys need encrypted signalling")
	// ErrClosed says that the engine or the session is closed.
	ErrClosed = errors.New("media: the engine or session is closed")
)

// Codec is an audio codec of RTP.
type Codec uint8

// The supported codecs (RFC 3551, RFC 7587). Within Callboard all audio is 8 kHz µ-law. The session converts other
// codecs when it receives and sends. Only builds with the tag "opus" offer Opus.
const (
	PCMU Codec = iota
	PCMA
	G722
	Opus
)

// String returns the encoding name and clock rate as in a=rtpmap, for example "PCMU/8000".
func (c Codec) String() string {
	return [...]string{"PCMU/8000", "PCMA/8000", "G722/8000", "opus/48000/2"}[c&3]
}

// SRTPMode says whether audio is encrypted by SRTP (RFC 3711) with keys from the SDP (RFC 4568).
type SRTPMode uint8

// The SRTP modes.
const (
	SRTPOff      SRTPMode = iota // audio is not encrypted; an offer of SRTP only is refused
	SRTPOptional                 // encrypted if the peer supports SRTP
	SRTPRequired                 // SDP without SRTP keys is refused
)

// DTMFMode is the transport of DTMF digits.
type DTMFMode uint8

// The DTMF transports. In every mode, the owner may pass digits that arrive by SIP INFO to Session.ReceiveInfoDigit.
const (
	DTMFAuto    DTMFMode = iota // telephone events if the peer supports them, otherwise tones in the audio, in both directions
	DTMFRFC4733                 // telephone events only
	DTMFInfo                    // the owner sends digits by SIP INFO; see SendInfo
	DTMFInband                  // tones in the audio only; telephone events are neither offered nor accepted
)

// sampleRate is the rate of the media clock in samples a second. A G.711 sample is one byte.
const sampleRate = 8000

// Clip is audio ready to be sent: 8 kHz mono µ-law samples. A clip is read-only, so that many calls can play it at the
// same time.
type Clip []byte

// Duration is the playing time of the clip.
func (c Clip) Duration() time.Duration { return samples(len(c)) }

// samples is the duration of n samples.
func samples[N int | uint64](n N) time.Duration {
	return time.Duration(n) * (time.Second / sampleRate)
}

// Config says where an engine listens and which addresses it may send audio to. The zero value works.
type Config struct {
	BindIP   netip.Addr // address of the sockets; "::" accepts IPv4 and IPv6. Default: 0.0.0.0
	PublicIP netip.Addr // address in SDP c=. Default: BindIP, or an address of this machine if BindIP is unspecified
	// PortMin and PortMax bound the RTP ports. RTP ports are even, and the RTCP port is the next odd port. Default:
	// 20000-29999.
	PortMin, PortMax int
	// MayReach says whether audio may be sent to an address. Default: every address. The engine always refuses its own
	// ports, privileged ports, multicast and unspecified addresses without calling MayReach.
	MayReach func(netip.AddrPort) bool
	// Quarantine is how long a freed port pair stays unused, so that late packets reach no other call. Default: 5
	// s.
	Quarantine time.Duration
	Recording  wav.Format   // sample format of recordings. Default: µ-law
	Log        *slog.Logger // nil: no log
}

// Options are the settings of one session.
type Options struct {
	Codecs     []Codec  // in our order of preference. Default: PCMU, PCMA
	PTime      int      // milliseconds of audio per packet if the peer asks for no length: 10, 20, 30 or 40. Default: 20
	TheirOrder bool     // an offer is answered with the peer's first supported codec instead of ours
	DTMF       DTMFMode // transport of DTMF digits
	// ComfortNoise lets the session send comfort noise (RFC 3389) in pauses if the peer accepts it. The session always
	// plays received comfort noise.
	ComfortNoise   bool
	ClassifyAnswer bool // answering machine detection after Begin; it reports the events AnswerClassified, Beep and GreetingEnded
	SRTP           SRTPMode
	// Confidential says that the signalling is encrypted, for example by TLS. SRTP keys need Confidential, or
	// KeysInClear, which allows keys in unencrypted signalling. Without either, SRTPOptional counts as SRTPOff, and Open
	// with SRTPRequired returns ErrConfidential.
	Confidential, KeysInClear bool
	NAT                       NATMode
	// Address is the IP address in the SDP c= line, for a peer that reaches this machine by a special address, for
	// example in a private network. Default: Config.PublicIP of the peer's address family. The default also applies if no
	// socket listens on Address.
	Address           netip.Addr
	SignallingAddress netip.Addr     // source address of the peer's signalling, from which RTP may also be accepted
	KeyLife           time.Duration  // how long a key encrypts our audio before RekeyDue. Default: 1 h
	RecordPath        string         // "": not recorded; the recording starts at Begin. Without any audio no file is written
	Networks          []netip.Prefix // further networks to which audio may be sent, and from which RTP may be accepted
	Notify            func(Event)    // receives the events; must not block. Called from the media clock, one call at a time per session
	ResumeFrom        *SessionState  // state of the session in another process that this session continues; RecordPath may hold the recording so far
	IdleAfter         time.Duration  // IdleTimeout is reported after this time without RTP and RTCP, unless on hold. Default: 60 s
}

// Event is what a session reports to its owner through Options.Notify.
type Event interface{ mediaEvent() }

// The types of events that a session reports.
type (
	// Digit reports a DTMF digit. It is reported once, even if the peer sends the digit by several transports. Key is
	// one of 0-9 * # A-D.
	Digit struct {
		Key      byte
		Duration time.Duration
	}
	// Played reports that a clip or feed has ended. If Interrupted is set, playback was stopped after Heard.
	Played struct {
		ID          uint64
		Interrupted bool
		Heard       time.Duration
	}
	// DigitsSent reports that all digits of a SendDigits call were sent.
	DigitsSent struct{ ID uint64 }
	// SendInfo asks the owner to send a digit of SendDigits by a SIP INFO request within the dialog. It is reported with
	// DTMFInfo only.
	SendInfo struct {
		ContentType string
		Body        []byte
	}
	// Hold reports that the peer has put the call on hold or resumed it. PeerNotReceiving: the peer does not want our audio
	// (sendonly, inactive, c=0.0.0.0), so none is sent. PeerNotSending: the peer sends no audio (recvonly, inactive).
	// If neither is set, the peer has resumed the call.
	Hold struct{ PeerNotReceiving, PeerNotSending bool }
	// RekeyDue asks the owner to renew our SRTP key, by Rekey and a new Offer within the dialog. It is reported
	// after Options.KeyLife or a million packets, and again every 10 minutes until the key is renewed.
	RekeyDue struct{}
	// IdleTimeout reports that neither RTP nor RTCP has arrived for Options.IdleAfter. It is reported again only after a
	// packet has arrived or the owner has called ExtendIdleTimeout. If Broken is set, the session itself has failed and is closed.
	IdleTimeout struct{ Broken bool }
	// SpeechBegan reports that the peer has spoken for 200 ms, or for 100 ms while a listener is set.
	SpeechBegan struct{}
	// SpeechEnded reports that the peer has not spoken for Silence: 500 ms, or 256 ms while a listener is set.
	SpeechEnded struct{ Silence time.Duration }
	// AnswerClassified reports whether a person or which kind of machine has answered: after 5 s of silence, about 1 s after a
	// greeting, at the latest 12 s after Begin. It is reported again
	// if the class changes, for example after a beep.
	AnswerClassified struct{ By amd.Class }
	// Beep reports the end of a beep, after which a voicemail records.
	Beep struct{}
	// GreetingEnded reports that a machine has ended its greeting and that no beep has followed yet.
	GreetingEnded struct{}
)

func (Digit) mediaEvent()            {}
func (Played) mediaEvent()           {}
func (DigitsSent) mediaEvent()       {}
func (SendInfo) mediaEvent()         {}
func (Hold) mediaEvent()             {}
func (RekeyDue) mediaEvent()         {}
func (IdleTimeout) mediaEvent()      {}
func (SpeechBegan) mediaEvent()      {}
func (SpeechEnded) mediaEvent()      {}
func (AnswerClassified) mediaEvent() {}
func (Beep) mediaEvent()             {}
func (GreetingEnded) mediaEvent()    {}

// Recording describes the finished recording of a session. The zero value means that nothing was recorded.
type Recording struct {
	Path     string
	Duration time.Duration
	Human    []Span // spans in which a human agent, not the voice agent, is on the right channel
	Gap      error  // why a part of the audio is missing or silent in the file; nil: the file is complete
	Err      error  // why the whole recording is lost
}

// Stats are the statistics of one session. Loss, jitter and MOS describe the received audio. MOS follows the
// E-model (ITU-T G.107) and is 0 before the first packet. The packet interval is the time between two sent packets.
type Stats struct {
	Codec           string            `json:"codec"`
	SRTP            string            `json:"srtp"` // the suite, for example "AES_CM_128_HMAC_SHA1_80"; "": not encrypted
	PacketsSent     uint64            `json:"packets_sent"`
	PacketsReceived uint64            `json:"packets_received"`
	PacketsLost     uint64            `json:"packets_lost"`
	PacketsLate     uint64            `json:"packets_late"`
	PacketsRepeated uint64            `json:"packets_repeated"` // copies; they count as neither received nor late
	PacketsRefused  uint64            `json:"packets_refused"`
	JitterMs        float64           `json:"jitter_ms"`
	LossPercent     float64           `json:"loss_percent"`
	RoundTripMs     float64           `json:"round_trip_ms"`
	MOS             float64           `json:"mos"`
	SentFor         time.Duration     `json:"sent_for"`
	ReceivedFor     time.Duration     `json:"received_for"`
	IntervalP99Ms   float64           `json:"interval_p99_ms"`
	IntervalMaxMs   float64           `json:"interval_max_ms"`
	AudioIssue      string            `json:"audio_issue"` // why no audio was received, as a sentence; "": no problem
	Recorded        bool              `json:"recorded"`    // whether there is, or will be, a Recording with a file
	Course          []QualityInterval `json:"course"`      // the quality over time, in at most forty consecutive parts
}
