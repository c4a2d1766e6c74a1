// Package srtp encrypts and decrypts RTP and RTCP packets (RFC 3711, RFC 7714) with keys from SDP (RFC 4568). It
// parses and writes a=crypto lines, and opens no socket.
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

// Suite is an SRTP crypto suite: encryption and authentication.
type Suite uint8

// The suites of RFC 4568, RFC 6188 and RFC 7714.
const (
	None Suite = iota
	AESCM128SHA80
	AESCM128SHA32
	AESGCM128
	AESGCM256
	AESCM256SHA80
	AESCM256SHA32
)

// kind describes a suite; lengths are in bytes.
type kind struct {
	name    string
	profile srtp.ProtectionProfile
	key     int
	salt    int
}

// kinds describes all crypto suites. RFC 6188 uses the name AES_256_CM, but some peers send AES_CM_256.
var kinds = [...]kind{
	None:          {},
	AESCM128SHA80: {"AES_CM_128_HMAC_SHA1_80", srtp.ProtectionProfileAes128CmHmacSha1_80, 16, 14},
	AESCM128SHA32: {"AES_CM_128_HMAC_SHA1_32", srtp.ProtectionProfileAes128CmHmacSha1_32, 16, 14},
	AESGCM128:     {"AEAD_AES_128_GCM", srtp.ProtectionProfileAeadAes128Gcm, 16, 12},
	AESGCM256:     {"AEAD_AES_256_GCM", srtp.ProtectionProfileAeadAes256Gcm, 32, 12},
	AESCM256SHA80: {"AES_256_CM_HMAC_SHA1_80", srtp.ProtectionProfileAes256CmHmacSha1_80, 32, 14},
	AESCM256SHA32: {"AES_256_CM_HMAC_SHA1_32", srtp.ProtectionProfileAes256CmHmacSha1_32, 32, 14},
}

// String returns the name of the suite in an a=crypto line.
func (s Suite) String() string { return kinds[s].name }

// Overhead is the maximum number of bytes that encryption adds to a packet: authentication tag and SRTCP index.
const Overhead = 16 + 4

// Key is a master key with its salt. It is hidden when printed or logged.
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
	sourcesMost  = 16  // maximum of SSRCs per key, because each SSRC needs a replay list
)

// ErrRefused says that a packet is forged, replayed or malformed. It gives no detail.
var ErrRefused = errors.New("srtp: packet refused")

// Stream encrypts or decrypts packets of one direction. Not safe for concurrent use.
type Stream struct {
	context *srtp.Context
	sound   rtp.Header
	control rtcp.Header
	sources [sourcesMost]uint32
	known   int
}

// NewStream returns a stream that encrypts or decrypts with key k in one direction.
func NewStream(k Key) (*Stream, error) {
	if k.Suite == None || int(k.Suite) >= len(kinds) {
		return nil, errors.New("srtp: unknown crypto suite")
	}
	key, salt := k.secret()
	c, err := srtp.CreateContext(key, salt, kinds[k.Suite].profile,
		srtp.SRTPReplayProtection(replayWindow), srtp.SRTCPReplayProtection(replayWindow))
	if err != nil {
		return nil, fmt.Errorf("srtp: %w", err)
	}
	return &Stream{context: c}, nil
}

// Protect encrypts an RTP packet in place. If b has no capacity for Overhead more bytes, the result is a copy.
func (s *Stream) Protect(b []byte) ([]byte, error) {
	return s.context.EncryptRTP(b[:0], b, &s.sound)
}

// Open authenticates and decrypts an RTP packet in place. After an error the packet is unusable, and the stream is
// unchanged.
func (s *Stream) Open(b []byte) ([]byte, error) {
	if len(b) < 12 {
		return nil, ErrRefused
	}
	return s.from(binary.BigEndian.Uint32(b[8:]), func() ([]byte, error) { return s.context.DecryptRTP(b[:0], b, &s.sound) })
}

// from decrypts a packet of an SSRC by calling open. The number of SSRCs is limited, because each needs a replay list.
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

// RolloverCounter returns the rollover counter (ROC) of an SSRC.
func (s *Stream) RolloverCounter(ssrc uint32) uint32 {
	roc, _ := s.context.ROC(ssrc)
	return roc
}

// SetRolloverCounter sets the rollover counter of an SSRC.
func (s *Stream) SetRolloverCounter(ssrc, turns uint32) { s.context.SetROC(ssrc, turns) }

// ProtectControl encrypts a compound RTCP packet. If b has no capacity for Overhead more bytes, the result is a copy.
func (s *Stream) ProtectControl(b []byte) ([]byte, error) {
	return s.context.EncryptRTCP(b[:0], b, &s.control)
}

// OpenControl authenticates and decrypts a compound RTCP packet in place.
func (s *Stream) OpenControl(b []byte) ([]byte, error) {
	if len(b) < 12 {
		return nil, ErrRefused
	}
	return s.from(binary.BigEndian.Uint32(b[4:]), func() ([]byte, error) { return s.context.DecryptRTCP(b[:0], b, &s.control) })
}

// Opener decrypts the packets of a peer that may change its key. Until the first packet with the new key, packets
// with the old key are accepted too. An earlier key keeps its replay list, so that no packet is accepted twice. The
// zero value has no key. Not safe for concurrent use.
type Opener struct {
	current, previous *Stream
	copy              []byte
	past              []pastKey // the newest last
	spent             []Key     // keys whose replay lists were dropped
}

// pastKey is a key of the peer with its stream, which contains the replay list.
type pastKey struct {
	key    Key
	stream *Stream
}

const (
	formerMost = 4  // keys with replay lists; more than one is rare
	spentMost  = 64 // further keys that must not be used again
)

// ErrKeyReused is returned if the peer returns to a key whose replay list was dropped. Accepting that key again would allow
// replayed packets.
var ErrKeyReused = errors.New("srtp: the peer's key was used before")

// HasKey reports whether the opener has a key.
func (o *Opener) HasKey() bool { return o.current != nil }

// HasNewestKeyInUse reports whether a packet with the newest key has arrived, or no other key exists.
func (o *Opener) HasNewestKeyInUse() bool { return o.previous == nil }

// Renew sets a new key of the peer, or returns to an earlier one. It returns ErrKeyReused, or an error for a key without a
// crypto suite.
func (o *Opener) Renew(k Key) error {
	s, err := o.stream(k)
	if err != nil {
		return err
	}
	if s == o.current {
		return nil
	}
	o.previous, o.current = o.current, s
	if o.previous != nil && o.copy == nil {
		o.copy = make([]byte, 0, 2048)
	}
	return nil
}

// stream returns the stream of a key: the earlier stream with its replay list if there is one, else a new stream.
func (o *Opener) stream(k Key) (*Stream, error) {
	for _, f := range o.past {
		if f.key == k {
			return f.stream, nil
		}
	}
	if slices.Contains(o.spent, k) {
		return nil, ErrKeyReused
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
	o.past = append(o.past, pastKey{k, s})
	return s, nil
}

// Clear removes the current keys. The opener cannot decrypt until the next Renew.
func (o *Opener) Clear() { o.current, o.previous = nil, nil }

// Open authenticates and decrypts an RTP packet in place.
func (o *Opener) Open(b []byte) ([]byte, error) {
	if o.previous == nil {
		return o.current.Open(b)
	}
	return o.openDuringChange(b, (*Stream).Open)
}

// OpenControl authenticates and decrypts a compound RTCP packet in place.
func (o *Opener) OpenControl(b []byte) ([]byte, error) {
	if o.previous == nil {
		return o.current.OpenControl(b)
	}
	return o.openDuringChange(b, (*Stream).OpenControl)
}

// openDuringChange decrypts a packet while both the old and the new key are possible. Peers differ in whether a key
// change resets the rollover counter, so it tries both cases.
func (o *Opener) openDuringChange(b []byte, open func(*Stream, []byte) ([]byte, error)) ([]byte, error) {
	o.copy = append(o.copy[:0], b...) // a failed attempt may destroy the packet
	out, err := open(o.current, b)
	if err == nil {
		o.previous = nil
		return out, nil
	}
	copy(b, o.copy)
	if out, err = open(o.previous, b); err == nil {
		return out, nil
	}
	copy(b, o.copy)
	if len(b) < 12 {
		return nil, ErrRefused
	}
	ssrc := binary.BigEndian.Uint32(b[8:])
	turns := o.previous.RolloverCounter(ssrc)
	if turns == 0 {
		return nil, ErrRefused
	}
	o.current.SetRolloverCounter(ssrc, turns)
	if out, err = open(o.current, b); err != nil {
		o.current.SetRolloverCounter(ssrc, 0)
		return nil, ErrRefused
	}
	o.previous = nil
	return out, nil
}
