package message

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
)

// Prefixes and lengths of the identifiers that Callboard creates.
const (
	BranchCookie = "z9hG4bK" // RFC 3261 §8.1.1.7
	callIDPrefix = "cb-"
	callIDCore   = 24 // hex digits that identify the leg
	callIDCheck  = 12 // hex digits that prove that this installation created the Call-ID
)

// Identifiers derives Call-IDs, tags and branches from one secret. The identifiers of a leg are therefore known before
// its INVITE is sent, and are recognized after a crash.
type Identifiers struct {
	macs *sync.Pool // of *macer
}

// macer computes one identifier at a time and reuses its buffers.
type macer struct {
	hash hash.Hash
	text []byte
	sum  [sha256.Size]byte
	hex  [2 * sha256.Size]byte
}

// NewIdentifiers returns an Identifiers with this secret.
func NewIdentifiers(secret []byte) Identifiers {
	return Identifiers{&sync.Pool{New: func() any { return &macer{hash: hmac.New(sha256.New, secret)} }}}
}

// MAC returns the first hex digits of the HMAC of the parts. digits is their number.
func (id Identifiers) MAC(digits int, parts ...string) string {
	m, _ := id.macs.Get().(*macer)
	defer id.macs.Put(m)
	m.text = m.text[:0]
	for _, p := range parts {
		m.text = append(append(m.text, p...), 0)
	}
	m.hash.Reset()
	_, _ = m.hash.Write(m.text)
	hex.Encode(m.hex[:], m.hash.Sum(m.sum[:0]))
	return string(m.hex[:digits])
}

// LegCallID returns the Call-ID of a leg of a call attempt.
func (id Identifiers) LegCallID(attempt string, leg int) string {
	core := id.MAC(callIDCore, "call", attempt, strconv.Itoa(leg))
	return callIDPrefix + core + id.MAC(callIDCheck, "check", core)
}

// StandaloneCallID returns the Call-ID of requests outside a call, such as REGISTER, MESSAGE and OPTIONS.
func (id Identifiers) StandaloneCallID(name string) string {
	return callIDPrefix + id.MAC(callIDCore, "other", name)
}

// IsLegCallID reports whether LegCallID created a Call-ID with the same secret.
func (id Identifiers) IsLegCallID(callID string) bool {
	if len(callID) != len(callIDPrefix)+callIDCore+callIDCheck || callID[:len(callIDPrefix)] != callIDPrefix {
		return false
	}
	core, check := callID[len(callIDPrefix):len(callIDPrefix)+callIDCore], callID[len(callIDPrefix)+callIDCore:]
	return hmac.Equal([]byte(check), []byte(id.MAC(callIDCheck, "check", core)))
}

// FromTag returns the From tag of an outbound call.
func (id Identifiers) FromTag(callID string) string { return id.MAC(16, "tag", callID) }

// ToTag returns the To tag of an inbound call. It is the same for a retransmission, even after a restart.
func (id Identifiers) ToTag(callID, fromTag string) string {
	return id.MAC(16, "answer", callID, fromTag)
}

// Branch returns the branch of a request in the dialog with a Call-ID and a local tag. fork is the remote tag of a fork.
func (id Identifiers) Branch(callID, tag string, cseq uint32, method, fork string) string {
	return BranchCookie + id.MAC(24, "branch", callID, tag, strconv.FormatUint(uint64(cseq), 10), method, fork)
}
