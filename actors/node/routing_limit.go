package node

import "sync/atomic"

// maxRouting limits how many requests wait for the store and for actors at the same time.
const maxRouting = 1000

// routingLimit limits the inbound INVITEs and MESSAGEs that are being routed.
type routingLimit struct{ requests atomic.Int32 }

// acquire reports whether another request may be routed. If it returns true, the caller must call release.
func (r *routingLimit) acquire() bool {
	if r.requests.Add(1) > maxRouting {
		r.requests.Add(-1)
		return false
	}
	return true
}

// release ends the routing of a request.
func (r *routingLimit) release() { r.requests.Add(-1) }

// count returns the number of requests that are being routed.
func (r *routingLimit) count() int { return int(r.requests.Load()) }
