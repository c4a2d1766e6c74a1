// Package srtp protects packets (RFC 3711, RFC 7714) by keys that descriptions carry (RFC 4568). It knows no socket and no
// description: it is handed packets, and lines of a=crypto.
package srtp

import (
	"errors"
	"fmt"
	"log/slog"

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

// Open checks and decrypts an RTP packet in place. What fails leaves it as it was received, and the stream too.
func (s *Stream) Open(b []byte) ([]byte, error) {
	if len(b) < 12 {
		return nil, ErrRefused
	}
	ssrc := uint32(b[8])<<24 | uint32(b[9])<<16 | uint32(b[10])<<8 | uint32(b[11])
	fresh := !s.knows(ssrc)
	if fresh && s.known == sourcesMost {
		return nil, ErrRefused
	}
	out, err := s.context.DecryptRTP(b[:0], b, &s.sound)
	if err != nil {
		return nil, ErrRefused
	}
	if fresh {
		s.sources[s.known] = ssrc
		s.known++
	}
	return out, nil
}

func (s *Stream) knows(ssrc uint32) bool {
	for _, known := range s.sources[:s.known] {
		if known == ssrc {
			return true
		}
	}
	return false
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
	ssrc := uint32(b[4])<<24 | uint32(b[5])<<16 | uint32(b[6])<<8 | uint32(b[7])
	if !s.knows(ssrc) && s.known == sourcesMost {
		return nil, ErrRefused
	}
	out, err := s.context.DecryptRTCP(b[:0], b, &s.control)
	if err != nil {
		return nil, ErrRefused
	}
	return out, nil
}
