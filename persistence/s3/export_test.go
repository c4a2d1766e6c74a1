package s3

import "time"

// Sign is sign.
var Sign = sign //nolint:gochecknoglobals // for tests

// Gate is a gate.
type Gate struct{ g gate }

// NewGate makes one.
func NewGate(least, most time.Duration) *Gate { return &Gate{gate{least: least, most: most}} }

// Enter is enter.
func (g *Gate) Enter(now time.Time) (time.Duration, error) { return g.g.enter(now) }

// Failed is failed.
func (g *Gate) Failed(now time.Time, err error) time.Duration { return g.g.failed(now, err) }

// Worked is worked.
func (g *Gate) Worked() { g.g.worked() }
