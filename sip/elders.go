package sip

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// elderFor is how long we remember that a phone knows MD5 alone.
const elderFor = 2 * time.Hour

// elderWait is how long a carrier that sends calls has to prove itself before
// its next call tells that it could not: many begin at the same time.
const elderWait = 3 * time.Second

// elders remembers which phones and carriers give up at the sight of SHA-256:
// they are asked, send no proof, and some time later begin anew. From their
// second try on they are asked for MD5 alone (RFC 8760 calls for both, and many
// in use stop reading there). The last maxSources of them are kept.
type elders struct {
	wait  time.Duration // from a first try until another one tells
	mu    sync.Mutex
	seed  maphash.Seed
	tried *simplelru.LRU[uint64, *elder] // by the hash of source and user
	able  map[string]time.Time           // accounts that have proved by the better digest, and when: nobody talks them down
}

type elder struct {
	try uint64 // the hash of Call-ID and CSeq
	at  time.Time
	old bool
}

func newElders() *elders {
	return &elders{seed: maphash.MakeSeed(), tried: newLRU[uint64, *elder](), able: make(map[string]time.Time)}
}

type triedBy struct {
	source netip.Addr
	user   string
}

type triedAs struct {
	callID string
	cseq   uint32
}

// asks tells whether a request is of a phone that knows MD5 alone. A fresh one
// brings no proof: its first try is noted, another one tells.
func (e *elders) asks(source netip.Addr, user, callID string, cseq uint32, fresh bool, now time.Time) bool {
	who := maphash.Comparable(e.seed, triedBy{source, user})
	try := maphash.Comparable(e.seed, triedAs{callID, cseq})
	e.mu.Lock()
	defer e.mu.Unlock()
	if at, able := e.able[user]; able && now.Sub(at) <= elderFor {
		return false
	}
	s, known := e.tried.Get(who)
	if !known || now.Sub(s.at) > elderFor {
		if fresh {
			e.tried.Add(who, &elder{try: try, at: now})
		}
		return false
	}
	s.old = s.old || fresh && s.try != try && now.Sub(s.at) >= e.wait
	if s.old {
		s.at = now
	}
	return s.old
}

// proved forgets a phone that knows the better digest. Whoever sends two
// REGISTERs with its address could otherwise have it asked for MD5 alone.
func (e *elders) proved(source netip.Addr, user string, better bool, now time.Time) {
	who := maphash.Comparable(e.seed, triedBy{source, user})
	e.mu.Lock()
	defer e.mu.Unlock()
	if better {
		if len(e.able) >= maxNonces {
			clear(e.able)
		}
		e.able[user] = now
	}
	if s, known := e.tried.Peek(who); known && (better || !s.old) {
		e.tried.Remove(who)
	}
}
