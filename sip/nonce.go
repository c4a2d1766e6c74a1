package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	nonceLife   = 5 * time.Minute
	nonceHead   = 10 // bytes: seconds and chance
	nonceMAC    = 14
	nonceWindow = 64      // requests that may overtake each other
	maxNonces   = 1 << 16 // that have proved a password lately
)

// nonces makes and checks the nonces of our challenges. They carry their time
// and a MAC over it and the source, so that nothing is kept for a challenge;
// only of nonces that proved a password the counts are remembered, which ends
// replays.
type nonces struct {
	secret []byte
	mu     sync.Mutex
	used   map[string]*counts32
	swept  time.Time
}

// counts32 are the nonce counts seen: the highest, and which of the 64 below it.
type counts32 struct {
	high uint32
	seen uint64
	till time.Time
}

func newNonces(secret []byte) *nonces {
	return &nonces{secret: secret, used: make(map[string]*counts32)}
}

func (n *nonces) make(source netip.Addr, now time.Time) string {
	var raw [nonceHead + nonceMAC]byte
	binary.BigEndian.PutUint32(raw[:], uint32(now.Unix()&0xFFFFFFFF)) // wraps in 2106, and so does the check
	_, _ = rand.Read(raw[4:nonceHead])                                // never fails
	copy(raw[nonceHead:], n.mac(raw[:nonceHead], source))
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

func (n *nonces) mac(head []byte, source netip.Addr) []byte {
	h := hmac.New(sha256.New, n.secret)
	_, _ = h.Write([]byte("nonce"))
	_, _ = h.Write(head)
	text, _ := source.MarshalBinary()
	_, _ = h.Write(text)
	return h.Sum(nil)[:nonceMAC]
}

// check tells whether we gave the nonce to this source, and whether its time
// is over.
func (n *nonces) check(text string, source netip.Addr, now time.Time) (ours, old bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(nonceHead+nonceMAC) {
		return false, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !hmac.Equal(raw[nonceHead:], n.mac(raw[:nonceHead], source)) {
		return false, false
	}
	age := time.Duration(int32(uint32(now.Unix()&0xFFFFFFFF)-binary.BigEndian.Uint32(raw))) * time.Second //nolint:gosec // as in make
	return true, age > nonceLife || age < -nonceLife
}

// count takes a nonce count, once; false: it was used before, lies too far
// back, or cannot be remembered.
func (n *nonces) count(nonce string, nc uint32, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.used[nonce]
	if c == nil {
		if n.sweep(now); len(n.used) >= maxNonces {
			return false
		}
		c = &counts32{till: now.Add(2 * nonceLife)}
		n.used[nonce] = c
	}
	switch {
	case nc == 0 || nc+nonceWindow <= c.high && c.high >= nonceWindow:
		return false
	case nc > c.high:
		if shift := nc - c.high; shift < nonceWindow {
			c.seen <<= shift
		} else {
			c.seen = 0
		}
		c.seen |= 1
		c.high = nc
		return true
	}
	bit := uint64(1) << (c.high - nc)
	if c.seen&bit != 0 {
		return false
	}
	c.seen |= bit
	return true
}

func (n *nonces) sweep(now time.Time) {
	if len(n.used) < maxNonces && now.Sub(n.swept) < nonceLife {
		return
	}
	n.swept = now
	for nonce, c := range n.used {
		if now.After(c.till) {
			delete(n.used, nonce)
		}
	}
}

// limiter is a token bucket per source in a table that never grows: two
// sources that share a slot evict each other. An IPv6 source is its /64.
type limiter struct {
	mu    sync.Mutex
	seed  maphash.Seed
	rate  float64 // tokens a second
	burst float64
	slots []bucket
}

func newLimiter(rate, burst float64) *limiter {
	return &limiter{seed: maphash.MakeSeed(), rate: rate, burst: burst, slots: make([]bucket, bucketSlots)}
}

// spend takes cost tokens if the source has them; 0 only asks for one.
func (l *limiter) spend(a netip.Addr, cost float64, now time.Time) bool {
	if a.Is6() && !a.Is4In6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			a = p.Addr()
		}
	}
	i := maphash.Comparable(l.seed, a) % bucketSlots
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &l.slots[i]
	if b.key != a {
		*b = bucket{key: a, tokens: l.burst, at: now}
	}
	b.tokens = min(l.burst, b.tokens+max(now.Sub(b.at).Seconds(), 0)*l.rate)
	b.at = now
	if b.tokens < max(cost, 1) {
		return false
	}
	b.tokens -= cost
	return true
}
