package node

import (
	"math"
	"sync"
	"time"
)

// inboundRates limits the inbound calls per second of each trunk with a token bucket. A bucket holds the calls of
// one second.
type inboundRates struct {
	mu      sync.Mutex
	byTrunk map[string]*inboundRate // by trunk id
}

// inboundRate is the token bucket of one trunk.
type inboundRate struct {
	tokens float64
	at     time.Time // time of the last refill
}

// acquire counts a call of a trunk. isOver is true if the trunk exceeds perSecond calls per second. wait is then the
// time until the next call is allowed. With perSecond 0 there is no limit.
func (r *inboundRates) acquire(trunkID string, perSecond float64, now time.Time) (wait time.Duration, isOver bool) {
	if perSecond <= 0 {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	burst := math.Max(1, perSecond)
	bucket := r.byTrunk[trunkID]
	if bucket == nil {
		bucket = &inboundRate{tokens: burst, at: now}
		if r.byTrunk == nil {
			r.byTrunk = make(map[string]*inboundRate)
		}
		r.byTrunk[trunkID] = bucket
	}
	bucket.tokens = math.Min(burst, bucket.tokens+now.Sub(bucket.at).Seconds()*perSecond)
	bucket.at = now
	if bucket.tokens < 1 {
		return max(time.Second, time.Duration((1-bucket.tokens)/perSecond*float64(time.Second))), true
	}
	bucket.tokens--
	return 0, false
}
