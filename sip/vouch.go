package sip

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// vouchFor is how long a source counts as known after another node has
// answered it.
const vouchFor = time.Hour

// vouches remembers the sources that another node has answered: carriers and
// phones of workspaces that are not here. They may ask as often as known ones;
// the entry admits nobody. The last maxSources are kept, and strangers never get
// in.
type vouches struct {
	mu    sync.Mutex
	until *simplelru.LRU[netip.Addr, time.Time]
}

func newVouches() *vouches { return &vouches{until: newLRU[netip.Addr, time.Time]()} }

func (v *vouches) add(a netip.Addr, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.until.Add(a, now.Add(vouchFor))
}

func (v *vouches) has(a netip.Addr, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	until, ok := v.until.Get(a)
	return ok && now.Before(until)
}
