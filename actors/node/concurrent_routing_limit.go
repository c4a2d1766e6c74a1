package node

import "sync/atomic"

// maxRouting limits how many inbound INVITEs and MESSAGEs are routed at the same time. Routing waits for the store
// and for actors.
const maxRouting = 1000

// routingLimit counts the inbound INVITEs and MESSAGEs that are being routed, and limits them to maxRouting.
type routingLimit struct{ requests atomic.Int32 }

// acquire reports whether another request may be routed. If it returns true, the caller must call release.
func (r *routingLimit) acquire() bool {
	if r.requests.Add(1) > maxRouting {
		r.requests.Add(-1)
		return false
	}
	return true
}

// release counts one request less after it has been routed.
func (r *routingLimit) release() { r.requests.Add(-1) }

// count returns the number of requests that are being routed.
func (r *routingLimit) count() int { return int(r.requests.Load()) }
