// Package srtp protects packets (RFC 3711, RFC 7714) by keys that descriptions carry (RFC 4568). It knows no socket and no
// description: it is handed packets, and lines of a=crypto.
package srtp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"
)

// Suite is a way to encrypt and to authenticate.
type Suite uint8

// The suites, of RFC 4568, RFC 6188 and RFC 7714.
const (
	None Suite = iota
	AESCM128SHA80
	AESCM128SHA32
	AESGCM128
	AESGCM256
	AESCM256SHA80
	AESCM256SHA32
)

// kind is what a suite is made of; lengths in bytes.
type kind struct {
	name    string
	profile srtp.ProtectionProfile
	key     int
	salt    int
}

// kinds are all suites. The name of RFC 6188 is AES_256_CM; some write AES_CM_256, as they do for 128.
var kinds = [...]kind{
	None:          {},
	AESCM128SHA80: {"AES_CM_128_HMAC_SHA1_80", srtp.ProtectionProfileAes128CmHmacSha1_80, 16, 14},
	AESCM128SHA32: {"AES_CM_128_HMAC_SHA1_32", srtp.ProtectionProfileAes128CmHmacSha1_32, 16, 14},
	AESGCM128:     {"AEAD_AES_128_GCM", srtp.ProtectionProfileAeadAes128Gcm, 16, 12},
	AESGCM256:     {"AEAD_AES_256_GCM", srtp.ProtectionProfileAeadAes256Gcm, 32, 12},
	AESCM256SHA80: {"AES_256_CM_HMAC_SHA1_80", srtp.ProtectionProfileAes256CmHmacSha1_80, 32, 14},
	AESCM256SHA32: {"AES_256_CM_HMAC_SHA1_32", srtp.ProtectionProfileAes256CmHmacSha1_32, 32, 14},
}

// String is the suite's name in a=crypto.
func (s Suite) String() string { return kinds[s].name }

// Overhead is the most that protection adds to a packet, in bytes: tag, index of SRTCP.
const Overhead = 16 + 4

// Key is a master key with its salt. It prints as nothing, so that no log and no trace holds it.
type Key struct {
	Suite Suite
	bytes [46]byte
}

// String hides the key.
func (Key) String() string { return "[key]" }

// GoString hides the key.
func (Key) GoString() string { return "[key]" }

// LogValue hides the key.
func (Key) LogValue() slog.Value { return slog.StringValue("[key]") }

func (k *Key) secret() (key, salt []byte) {
	n, m := kinds[k.Suite].key, kinds[k.Suite].salt
	return k.bytes[:n], k.bytes[n : n+m]
}

const (
	replayWindow = 128 // packets
	sourcesMost  = 16  // SSRCs that one key may bring: each is remembered against replay
)

// ErrRefused is all that is told of a packet that is forged, repeated or broken.
var ErrRefused = errors.New("srtp: refused")

// Stream protects what goes one way, or opens what comes. It is not for concurrent use.
type Stream struct {
	context *srtp.Context
	sound   rtp.Header
	control rtcp.Header
	sources [sourcesMost]uint32
	known   int
}

// NewStream takes a key for one direction.
func NewStream(k Key) (*Stream, error) {
	if k.Suite == None || int(k.Suite) >= len(kinds) {
		return nil, errors.New("srtp: no suite")
	}
	key, salt := k.secret()
	c, err := srtp.CreateContext(key, salt, kinds[k.Suite].profile,
		srtp.SRTPReplayProtection(replayWindow), srtp.SRTCPReplayProtection(replayWindow))
	if err != nil {
		return nil, fmt.Errorf("srtp: %w", err)
	}
	return &Stream{context: c}, nil
}

// Protect encrypts an RTP packet in place; b needs room for Overhead beyond its length, or is copied.
func (s *Stream) Protect(b []byte) ([]byte, error) {
	return s.context.EncryptRTP(b[:0], b, &s.sound)
}

// Open checks and decrypts an RTP packet in place. What fails is refused, may be left as nothing, and changes nothing else.
func (s *Stream) Open(b []byte) ([]byte, error) {
	if len(b) < 12 {
		return nil, ErrRefused
	}
	return s.from(binary.BigEndian.Uint32(b[8:]), func() ([]byte, error) { return s.context.DecryptRTP(b[:0], b, &s.sound) })
}

// from opens a packet of a source. Each source is remembered against replay, so there is a most of them.
func (s *Stream) from(ssrc uint32, open func() ([]byte, error)) ([]byte, error) {
	known := slices.Contains(s.sources[:s.known], ssrc)
	if !known && s.known == sourcesMost {
		return nil, ErrRefused
	}
	out, err := open()
	if err != nil {
		return nil, ErrRefused
	}
	if !known {
		s.sources[s.known] = ssrc
		s.known++
	}
	return out, nil
}

// Turns says how often the sequence of a source has turned over (the ROC).
func (s *Stream) Turns(ssrc uint32) uint32 {
	roc, _ := s.context.ROC(ssrc)
	return roc
}

// SetTurns begins with a source in the middle of its life.
func (s *Stream) SetTurns(ssrc, turns uint32) { s.context.SetROC(ssrc, turns) }

// ProtectControl encrypts a compound RTCP packet; b needs room for Overhead beyond its length, or is copied.
func (s *Stream) ProtectControl(b []byte) ([]byte, error) {
	return s.context.EncryptRTCP(b[:0], b, &s.control)
}

// OpenControl checks and decrypts a compound RTCP packet in place.
func (s *Stream) OpenControl(b []byte) ([]byte, error) {
	if len(b) < 12 {
		return nil, ErrRefused
	}
	return s.from(binary.BigEndian.Uint32(b[4:]), func() ([]byte, error) { return s.context.DecryptRTCP(b[:0], b, &s.control) })
}

// Opener opens what comes from a far end that may change its key: until the first packet under the new key, those under
// the old one are still heard. A key that comes back finds what it had opened before, so that nothing is opened twice. The
// zero value is empty. It is not for concurrent use.
type Opener struct {
	now, old *Stream
	copy     []byte
	past     []former // the newest last
	spent    []Key    // of which nothing but the key is remembered
}

// former is a key, and what it opens.
type former struct {
	key    Key
	stream *Stream
}

const (
	formerMost = 4  // keys whose packets are remembered; more than one is rare
	spentMost  = 64 // further keys that are known not to be new
)

// ErrSpent tells that a key was used so long ago that what it opened is forgotten: it must not be used again.
var ErrSpent = errors.New("srtp: a key that was used before")

// Set reports whether there is a key.
func (o *Opener) Set() bool { return o.now != nil }

// Turned reports whether the far end has been heard under the newest key, or has had no other.
func (o *Opener) Turned() bool { return o.old == nil }

// Renew takes another key, or an earlier one again. Errors: ErrSpent, or that the key has no suite.
func (o *Opener) Renew(k Key) error {
	s, err := o.stream(k)
	if err != nil {
		return err
	}
	if s == o.now {
		return nil
	}
	o.old, o.now = o.now, s
	if o.old != nil && o.copy == nil {
		o.copy = make([]byte, 0, 2048)
	}
	return nil
}

// stream is what a key opens, new or as it was left.
func (o *Opener) stream(k Key) (*Stream, error) {
	for _, f := range o.past {
		if f.key == k {
			return f.stream, nil
		}
	}
	if slices.Contains(o.spent, k) {
		return nil, ErrSpent
	}
	s, err := NewStream(k)
	if err != nil {
		return nil, err
	}
	if len(o.past) == formerMost {
		if len(o.spent) == spentMost {
			o.spent = slices.Delete(o.spent, 0, 1)
		}
		o.spent = append(o.spent, o.past[0].key)
		o.past = slices.Delete(o.past, 0, 1)
	}
	o.past = append(o.past, former{k, s})
	return s, nil
}

// Clear is without a key, until the next one.
func (o *Opener) Clear() { o.now, o.old = nil, nil }

// Open checks and decrypts an RTP packet in place.
func (o *Opener) Open(b []byte) ([]byte, error) {
	if o.old == nil {
		return o.now.Open(b)
	}
	return o.change(b, (*Stream).Open)
}

// OpenControl checks and decrypts a compound RTCP packet in place.
func (o *Opener) OpenControl(b []byte) ([]byte, error) {
	if o.old == nil {
		return o.now.OpenControl(b)
	}
	return o.change(b, (*Stream).OpenControl)
}

// change opens a packet while two keys are known. Some count the turns of the sequence on when they change the key, some
// begin anew; both are tried.
func (o *Opener) change(b []byte, open func(*Stream, []byte) ([]byte, error)) ([]byte, error) {
	o.copy = append(o.copy[:0], b...) // a failure may leave nothing of the packet
	out, err := open(o.now, b)
	if err == nil {
		o.old = nil
		return out, nil
	}
	copy(b, o.copy)
	if out, err = open(o.old, b); err == nil {
		return out, nil
	}
	copy(b, o.copy)
	if len(b) < 12 {
		return nil, ErrRefused
	}
	ssrc := binary.BigEndian.Uint32(b[8:])
	turns := o.old.Turns(ssrc)
	if turns == 0 {
		return nil, ErrRefused
	}
	o.now.SetTurns(ssrc, turns)
	if out, err = open(o.now, b); err != nil {
		o.now.SetTurns(ssrc, 0)
		return nil, ErrRefused
	}
	o.old = nil
	return out, nil
}
