package node

import "sync/atomic"

// maxRouting bounds the requests that wait for the store and for actors at a time.
const maxRouting = 1000

// routingLimit counts the inbound INVITEs and MESSAGEs that are being routed.
type routingLimit struct{ requests atomic.Int32 }

// acquire reports whether another request may be routed. release must follow.
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
