package sip

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// vouchFor is how long a source counts as known after another node has
// answered it.
const vouchFor = time.Hour

// vouches remembers the sources that another node has answered: carriers and
// phones of workspaces that are not here. They may ask as often as known ones;
// it admits nobody. Two that share a slot evict each other, so the table never
// grows, and strangers never get into it.
type vouches struct {
	mu    sync.Mutex
	seed  maphash.Seed
	slots []vouch
}

type vouch struct {
	addr  netip.Addr
	until time.Time
}

func newVouches() *vouches {
	return &vouches{seed: maphash.MakeSeed(), slots: make([]vouch, bucketSlots)}
}

func (v *vouches) add(a netip.Addr, now time.Time) {
	i := maphash.Comparable(v.seed, a) % bucketSlots
	v.mu.Lock()
	defer v.mu.Unlock()
	v.slots[i] = vouch{a, now.Add(vouchFor)}
}

func (v *vouches) has(a netip.Addr, now time.Time) bool {
	i := maphash.Comparable(v.seed, a) % bucketSlots
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.slots[i].addr == a && now.Before(v.slots[i].until)
}
