package node

import (
	"math"
	"sync"
	"time"
)

// inboundRates hold each trunk to the inbound calls per second that its settings
// allow: a bucket that holds one second's worth.
type inboundRates struct {
	mu      sync.Mutex
	byTrunk map[string]*inboundRate
}

type inboundRate struct {
	tokens float64
	at     time.Time
}

// acquire counts a call of a trunk, or reports that the trunk is over its limit and how long it has to wait. perSecond 0: there is no
// limit.
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
