package cluster

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// remoteSourceFor is how long a source is known after another node has answered it.
const remoteSourceFor = time.Hour

const maxRemoteSources = 4096

// remoteSources remembers the addresses that another node has answered: carriers and phones of workspaces on that
// node. They get the request rates of known sources, and no other rights. It stores at most maxRemoteSources
// addresses.
type remoteSources struct {
	mu    sync.Mutex
	until *simplelru.LRU[netip.Addr, time.Time]
}

func newRemoteSources() *remoteSources {
	until, _ := simplelru.NewLRU[netip.Addr, time.Time](maxRemoteSources, nil) // fails for a size below 1
	return &remoteSources{until: until}
}

func (r *remoteSources) add(a netip.Addr, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until.Add(a, now.Add(remoteSourceFor))
}

func (r *remoteSources) has(a netip.Addr, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ok := r.until.Get(a)
	return ok && now.Before(until)
}
