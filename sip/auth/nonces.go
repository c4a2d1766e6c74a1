package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	nonceLife     = 5 * time.Minute
	nonceHead     = 10 // bytes: creation time in milliseconds, and random bytes
	nonceClock    = 6  // bytes of the milliseconds: enough until the year 10889
	nonceMAC      = 14
	nonceWindow   = 64      // nonce counts below the highest one that are still accepted
	maxNonces     = 1 << 16 // nonces that authenticated a user and are stored
	maxUserNonces = 1 << 10 // of one account
)

// nonces creates and checks the nonces of challenges. A nonce carries its time and a MAC over the time and the
// source, so nothing is stored for a challenge. Only the counts of nonces that authenticated a user are stored,
// which prevents replays.
//
// The memory per account is bounded. At its limit the older half of the account's nonces is removed, and from then
// on nonces that are not younger are refused as stale. A client with such a nonce is challenged with a new nonce.
// At the limit of all accounts together the older half of all nonces is removed.
type nonces struct {
	secret    []byte
	mu        sync.Mutex
	byAccount map[string]*accountNonces // by account
	total     int
	floor     int64 // creation time in milliseconds; nonces that are not younger are stale
	sweptAt   time.Time
}

// accountNonces are the nonces that authenticated one account.
type accountNonces struct {
	used  map[string]*usedCounts
	floor int64 // creation time in milliseconds; nonces of this account that are not younger are stale
}

// usedCounts are the nonce counts with which a nonce was used: the highest, and a bitmap of the 64 counts below it.
type usedCounts struct {
	high      uint32
	seen      uint64
	createdAt int64 // creation time of the nonce
}

func newNonces(secret []byte) *nonces {
	return &nonces{secret: secret, byAccount: make(map[string]*accountNonces)}
}

func (n *nonces) newNonce(source netip.Addr, now time.Time) string {
	var raw [nonceHead + nonceMAC]byte
	var clock [8]byte
	binary.BigEndian.PutUint64(clock[:], uint64(now.UnixMilli()))
	copy(raw[:nonceClock], clock[8-nonceClock:])
	_, _ = rand.Read(raw[nonceClock:nonceHead]) // never fails
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

// check returns the creation time of a nonce, whether this verifier created it for this source, and whether it has
// expired.
func (n *nonces) check(text string, source netip.Addr, now time.Time) (createdAt int64, ours, old bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(nonceHead+nonceMAC) {
		return 0, false, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !hmac.Equal(raw[nonceHead:], n.mac(raw[:nonceHead], source)) {
		return 0, false, false
	}
	var clock [8]byte
	copy(clock[8-nonceClock:], raw[:nonceClock])
	createdAt = int64(binary.BigEndian.Uint64(clock[:])) //nolint:gosec // 48 bits
	age := now.UnixMilli() - createdAt
	return createdAt, true, age > nonceLife.Milliseconds() || age < -nonceLife.Milliseconds()
}

// count marks a nonce count of an account as used. It returns false for a count that was used before or is too old,
// and for a nonce that is no longer stored.
func (n *nonces) count(account, nonce string, createdAt int64, nc uint32, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sweep(now)
	own := n.byAccount[account]
	if own == nil {
		own = &accountNonces{used: make(map[string]*usedCounts)}
	}
	c := own.used[nonce]
	if c == nil {
		n.makeRoom(own)
		n.byAccount[account] = own // the account may have been removed just now
		if createdAt <= own.floor || createdAt <= n.floor {
			return false
		}
		c = &usedCounts{createdAt: createdAt}
		own.used[nonce] = c
		n.total++
	}
	return c.markUsed(nc)
}

func (c *usedCounts) markUsed(nc uint32) bool {
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

// makeRoom removes old nonces if one more nonce of an account would exceed a limit.
func (n *nonces) makeRoom(own *accountNonces) {
	if len(own.used) >= maxUserNonces {
		own.floor = median(own.appendCreationTimes(nil))
		n.removeUntil(own, own.floor)
	}
	if n.total < maxNonces {
		return
	}
	var all []int64
	for _, s := range n.byAccount {
		all = s.appendCreationTimes(all)
	}
	n.floor = max(n.floor, median(all))
	n.removeAllUntil(n.floor)
}

func (s *accountNonces) appendCreationTimes(to []int64) []int64 {
	for _, c := range s.used {
		to = append(to, c.createdAt)
	}
	return to
}

func median(of []int64) int64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// removeUntil removes the nonces of an account whose creation time is not later than floor.
func (n *nonces) removeUntil(s *accountNonces, floor int64) {
	for nonce, c := range s.used {
		if c.createdAt <= floor {
			delete(s.used, nonce)
			n.total--
		}
	}
}

// removeAllUntil removes the nonces of all accounts whose creation time is not later than floor.
func (n *nonces) removeAllUntil(floor int64) {
	for account, s := range n.byAccount {
		if n.removeUntil(s, floor); len(s.used) == 0 && s.floor <= floor {
			delete(n.byAccount, account)
		}
	}
}

// sweep removes expired nonces, once per nonceLife.
func (n *nonces) sweep(now time.Time) {
	if now.Sub(n.sweptAt) < nonceLife {
		return
	}
	n.sweptAt = now
	n.floor = max(n.floor, now.Add(-nonceLife).UnixMilli()-1)
	n.removeAllUntil(n.floor)
}
