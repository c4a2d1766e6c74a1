// Package location finds the node that owns a SIP request, in an installation with several shards. It searches its
// cache first, then the store, then queries the other nodes.
package location

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip/cluster"
)

const (
	// QueryTimeout limits the search for a node. It is shorter than the half second after which SIP retransmits.
	QueryTimeout     = 400 * time.Millisecond
	cacheLifetime    = 2 * time.Second // how long a result may be used
	maxCachedAnswers = 10_000          // per generation of the cache
	maxKey           = 512             // maximum length of a cache key in bytes
)

// Finder finds the node that owns a SIP request. It is safe for concurrent use.
type Finder struct {
	cluster Cluster

	mu        sync.Mutex
	locations locationCache // results by called number, phone or source
	cancels   locationCache // nodes of calls, for their CANCEL
}

// New creates a Finder for the nodes of a cluster.
func New(in Cluster) *Finder {
	return &Finder{cluster: in, locations: locationCache{lifetime: cacheLifetime}, cancels: locationCache{lifetime: cancelLifetime}}
}

// NodeMark returns the name by which a node is identified in the tags of its dialogs. It is a hash of the node's
// address, so it stays the same after a restart.
func NodeMark(n lease.Node) string {
	sum := sha256.Sum256([]byte(n.Addr))
	return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:5]))
}

// FindCached finds the owner of a request without reading the store or querying nodes. elsewhere is true if another
// node, at address at, owns the request. sure is false if the cache does not contain the owner.
func (w *Finder) FindCached(a cluster.OwnerQuery) (at netip.AddrPort, elsewhere, sure bool) {
	if a.Mark != "" {
		at, elsewhere = w.nodeByMark(a.Mark)
		return at, elsewhere, true
	}
	if node, hinted := w.nodeOfCancel(a); hinted {
		at, elsewhere = w.addrOfNode(node)
		return at, elsewhere, true
	}
	for _, name := range storedClaimNames(a) {
		c, known := w.lookUp(name)
		if known && c.workspace != "" && w.isDisputable(a, name, c.workspace) {
			c, known = w.cachedDispute(a, name)
		}
		if !known {
			return at, false, false
		}
		if c.workspace != "" {
			at, elsewhere = w.addrOfWorkspace(c.workspace)
			return at, elsewhere, true
		}
	}
	if !concernsOtherNodes(a) {
		return at, false, true
	}
	c, known := w.cachedClaimant(a)
	if known && c.isWeak && a.Method != sipOptions {
		phone, read := w.lookUp("p" + a.From)
		if !read || phone.workspace != "" {
			at, elsewhere = w.addrOfWorkspace(phone.workspace)
			return at, elsewhere, read
		}
	}
	if known {
		at, elsewhere = w.addrOfNode(c.node)
	}
	return at, elsewhere, known
}

// Find returns the address of the node that owns a request, and true unless the owner is this node. It searches the
// cache, the store and the other nodes. The user name of a phone selects the node only if no trunk at the source has
// a claim. Otherwise a tenant could take calls by giving a phone the user name of a carrier.
func (w *Finder) Find(a cluster.OwnerQuery) (netip.AddrPort, bool) {
	if a.Mark != "" {
		return w.nodeByMark(a.Mark)
	}
	if node, hinted := w.nodeOfCancel(a); hinted {
		return w.addrOfNode(node)
	}
	ctx, cancel := context.WithTimeout(context.Background(), QueryTimeout)
	defer cancel()
	for _, name := range storedClaimNames(a) {
		workspace, err := w.findWorkspace(ctx, name)
		if err != nil {
			return netip.AddrPort{}, true // an invalid address makes the caller repeat the request
		}
		if workspace != "" && w.isDisputable(a, name, workspace) {
			workspace = w.checkNumberClaim(ctx, a, name, workspace)
		}
		if workspace != "" {
			return w.addrOfWorkspace(workspace)
		}
	}
	if !concernsOtherNodes(a) {
		return netip.AddrPort{}, false
	}
	phone := ""
	if a.Method != sipOptions { // before the node queries, which may use all of the time
		var err error
		if phone, err = w.findWorkspace(ctx, "p"+a.From); err != nil {
			return netip.AddrPort{}, true
		}
	}
	c, err := w.findClaimant(ctx, a)
	switch {
	case c.isWeak && phone != "":
		return w.addrOfWorkspace(phone)
	case err != nil:
		return netip.AddrPort{}, true
	}
	return w.addrOfNode(c.node)
}

// lookUp returns a cached result by its key.
func (w *Finder) lookUp(name string) (location, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locations.get(name, time.Now())
}

// nodeOfCancel returns the cached node that received the INVITE to which a CANCEL belongs.
func (w *Finder) nodeOfCancel(a cluster.OwnerQuery) (node string, ok bool) {
	if a.Method != "CANCEL" {
		return "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.cancels.get(cancelKey(a), time.Now())
	return c.node, ok
}

// store puts a result of an owner lookup into the cache.
func (w *Finder) store(name string, c location) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locations.put(name, c, time.Now())
}

// findWorkspace returns the workspace that owns a number or phone, or "" if none does.
func (w *Finder) findWorkspace(ctx context.Context, name string) (workspace string, err error) {
	if c, known := w.lookUp(name); known {
		return c.workspace, nil
	}
	if workspace, err = w.cluster.StoredClaim(ctx, name); err == nil {
		w.store(name, location{workspace: workspace})
	}
	return workspace, err
}

// addrOfWorkspace returns the SIP address of the node that owns a workspace. The second result is false if the owner is
// this node. The address is invalid while no node owns the workspace.
func (w *Finder) addrOfWorkspace(workspace string) (netip.AddrPort, bool) {
	n, ok := w.cluster.OwnerOf(workspace)
	if !ok {
		return netip.AddrPort{}, true
	}
	return w.addrOf(n)
}

// nodeByMark returns the SIP address of the node that the tag of a dialog names. If no live node has this name, this
// node handles the request and answers that the dialog does not exist.
func (w *Finder) nodeByMark(mark string) (netip.AddrPort, bool) {
	for _, n := range w.cluster.LiveNodes() {
		if NodeMark(n) == mark {
			return w.addrOf(n)
		}
	}
	return netip.AddrPort{}, false
}

// addrOf returns the SIP address of a node. The second result is false if the node is this one.
func (w *Finder) addrOf(n lease.Node) (netip.AddrPort, bool) {
	if n.ID == w.cluster.Self() {
		return netip.AddrPort{}, false
	}
	at, err := netip.ParseAddrPort(n.SIP)
	if err != nil {
		return netip.AddrPort{}, true
	}
	return at, true
}
