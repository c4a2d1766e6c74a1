package auth

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// md5FallbackFor is how long a peer is challenged with MD5 only. It is also how long an account that has used
// SHA-256 is never challenged with MD5 only.
const md5FallbackFor = 2 * time.Hour

// trunkChallengeWait is the time after the first request without credentials in which further requests of a trunk
// still get both algorithms. A carrier starts many calls at once.
const trunkChallengeWait = 3 * time.Second

const maxMD5Peers = 4096

// md5Fallback remembers peers that do not answer a challenge with SHA-256 and MD5 (RFC 8760): they send another
// request without credentials. That request is challenged with MD5 only. At most maxMD5Peers peers are stored.
type md5Fallback struct {
	wait     time.Duration // further requests within this time after the first request without credentials do not count
	mu       sync.Mutex
	seed     maphash.Seed
	peers    *simplelru.LRU[uint64, *md5Peer] // by the hash of source and user
	sha256At map[string]time.Time             // by account: when the account last used SHA-256
}

// md5Peer is a peer that was challenged.
type md5Peer struct {
	request uint64 // hash of Call-ID and CSeq of its first request
	at      time.Time
	md5Only bool
}

func newMD5Fallback() *md5Fallback {
	peers, _ := simplelru.NewLRU[uint64, *md5Peer](maxMD5Peers, nil) // fails for a size below 1
	return &md5Fallback{seed: maphash.MakeSeed(), peers: peers, sha256At: make(map[string]time.Time)}
}

type peerKey struct {
	source netip.Addr
	user   string
}

type requestKey struct {
	callID string
	cseq   uint32
}

// md5Only reports whether a request is challenged with MD5 only. fresh is true if the request has no credentials. The
// first such request of a peer is stored, and a second one shows that the peer does not support SHA-256.
func (f *md5Fallback) md5Only(source netip.Addr, user, callID string, cseq uint32, fresh bool, now time.Time) bool {
	key := maphash.Comparable(f.seed, peerKey{source, user})
	request := maphash.Comparable(f.seed, requestKey{callID, cseq})
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, known := f.sha256At[user]; known && now.Sub(at) <= md5FallbackFor {
		return false
	}
	p, known := f.peers.Get(key)
	if !known || now.Sub(p.at) > md5FallbackFor {
		if fresh {
			f.peers.Add(key, &md5Peer{request: request, at: now})
		}
		return false
	}
	p.md5Only = p.md5Only || fresh && p.request != request && now.Sub(p.at) >= f.wait
	if p.md5Only {
		p.at = now
	}
	return p.md5Only
}

// authenticated records that a user authenticated with SHA-256 or with MD5. An account that has used SHA-256 is
// always offered it: otherwise two forged requests without credentials could downgrade the account to MD5.
func (f *md5Fallback) authenticated(source netip.Addr, user string, sha256 bool, now time.Time) {
	key := maphash.Comparable(f.seed, peerKey{source, user})
	f.mu.Lock()
	defer f.mu.Unlock()
	if sha256 {
		if len(f.sha256At) >= maxNonces {
			clear(f.sha256At)
		}
		f.sha256At[user] = now
	}
	if p, known := f.peers.Peek(key); known && (sha256 || !p.md5Only) {
		f.peers.Remove(key)
	}
}
