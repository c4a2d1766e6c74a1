package sip

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"sync"
)

const (
	branchCookie = "z9hG4bK" // RFC 3261 8.1.1.7
	callIDPrefix = "cb-"
	callIDCore   = 24 // hex digits that name the leg
	callIDCheck  = 12 // hex digits that prove it is ours
)

// identity derives every name we put on the wire from one secret, so that a
// leg's names are known before it is sent and recognised after a crash.
type identity struct {
	secret []byte
	macs   *sync.Pool // of *macer
}

// macer makes one name at a time, with room for what goes in and out.
type macer struct {
	hash hash.Hash
	text []byte
	sum  [sha256.Size]byte
	hex  [2 * sha256.Size]byte
}

func newIdentity(secret []byte) identity {
	return identity{secret, &sync.Pool{New: func() any { return &macer{hash: hmac.New(sha256.New, secret)} }}}
}

func (id identity) mac(digits int, parts ...string) string {
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

func (id identity) callID(attempt string, leg int) string {
	core := id.mac(callIDCore, "call", attempt, strconv.Itoa(leg))
	return callIDPrefix + core + id.mac(callIDCheck, "check", core)
}

// callIDOf names what is no leg: a registration.
func (id identity) callIDOf(name string) string {
	return callIDPrefix + id.mac(callIDCore, "other", name)
}

// owns tells whether a Call-ID was made by callID with this secret.
func (id identity) owns(callID string) bool {
	if len(callID) != len(callIDPrefix)+callIDCore+callIDCheck || callID[:len(callIDPrefix)] != callIDPrefix {
		return false
	}
	core, check := callID[len(callIDPrefix):len(callIDPrefix)+callIDCore], callID[len(callIDPrefix)+callIDCore:]
	return hmac.Equal([]byte(check), []byte(id.mac(callIDCheck, "check", core)))
}

// tag is our From-tag of an outbound call.
func (id identity) tag(callID string) string { return id.mac(16, "tag", callID) }

// answerTag is our To-tag of an inbound call: the same for a retransmission,
// even after a restart.
func (id identity) answerTag(callID, fromTag string) string {
	return id.mac(16, "answer", callID, fromTag)
}

func (id identity) branch(k dialogKey, cseq uint32, method, fork string) string {
	return branchCookie + id.mac(24, "branch", k.callID, k.tag, strconv.FormatUint(uint64(cseq), 10), method, fork)
}
