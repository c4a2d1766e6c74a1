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

// acquire counts a call of a trunk. over is true if the trunk exceeds perSecond; wait is then the time until the
// next call is allowed. perSecond 0 means no limit.
func (p *inboundRates) acquire(trunkID string, perSecond float64, now time.Time) (wait time.Duration, over bool) {
	if perSecond <= 0 {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	most := math.Max(1, perSecond)
	b := p.byTrunk[trunkID]
	if b == nil {
		b = &inboundRate{tokens: most, at: now}
		if p.byTrunk == nil {
			p.byTrunk = make(map[string]*inboundRate)
		}
		p.byTrunk[trunkID] = b
	}
	b.tokens = math.Min(most, b.tokens+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	if b.tokens < 1 {
		return max(time.Second, time.Duration((1-b.tokens)/perSecond*float64(time.Second))), true
	}
	b.tokens--
	return 0, false
}
