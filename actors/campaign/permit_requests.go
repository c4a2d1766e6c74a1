package campaign

import (
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/lines"
)

// permitRepeat is the time after which permits are requested again, because a restarted lines actor has lost the request.
const permitRepeat = 10 * time.Second

// permitRequests tracks the call permits that the campaign has requested from the lines actor. The campaign returns permits
// that belong to an earlier generation or that exceed the request.
type permitRequests struct {
	cfg  *Config
	rows *storedRows

	requested   int       // permits requested and not granted yet
	received    int       // permits received in this generation
	requestedAt time.Time // time of the last request
	generation  int
}

func newPermitRequests(cfg *Config, rows *storedRows) permitRequests {
	return permitRequests{cfg: cfg, rows: rows, generation: int(rand.Int32())} //nolint:gosec // no secret; permits of a predecessor carry another number
}

func (p *permitRequests) lines() *actor.PID { return p.cfg.Lines(p.rows.campaign.Environment) }

// request requests more permits. Up to the given number of retries, the permits are for contacts that are due for a retry.
func (p *permitRequests) request(ctx actor.Context, more, retries int, now time.Time) {
	p.requested += more
	p.requestedAt = now
	p.send(ctx, retries)
}

func (p *permitRequests) send(ctx actor.Context, retries int) {
	ctx.Request(p.lines(), lines.RequestPermits{
		Weight: p.cfg.Weight, Count: p.requested, Retries: min(p.requested, retries), Generation: p.generation, Received: p.received, ClockSpeed: p.rows.campaign.Clock().Factor,
	})
}

// repeat requests all outstanding permits again after permitRepeat. It starts a new generation, so permits that are still on
// their way are not accepted.
func (p *permitRequests) repeat(ctx actor.Context, retries int, now time.Time) {
	if p.requested > 0 && !now.Before(p.repeatAt()) {
		p.requestedAt = now
		p.generation++
		p.received = 0
		p.send(ctx, retries)
	}
}

// repeatAt returns the time at which the permits are requested again.
func (p *permitRequests) repeatAt() time.Time { return p.requestedAt.Add(permitRepeat) }

// accept reports whether a granted permit belongs to the current request and is still needed.
func (p *permitRequests) accept(m lines.Permit) bool {
	if m.Generation != p.generation {
		return false
	}
	p.received++
	if p.requested == 0 {
		return false
	}
	p.requested--
	return true
}

// withdraw cancels the outstanding permit request.
func (p *permitRequests) withdraw(ctx actor.Context) {
	if p.requested > 0 {
		ctx.Request(p.lines(), lines.CancelRequest{})
		p.requested, p.received = 0, 0
		p.generation++
	}
}

func (p *permitRequests) giveBack(ctx actor.Context, permit lines.Permit) {
	ctx.Send(p.lines(), lines.ReturnPermit{Permit: permit})
}

// trunkPause is a period in which the campaign requests no trunk slots.
type trunkPause struct {
	until    time.Time
	spendCap bool // the pause is due to the daily_spend_cap
}

// extend extends the pause until the given time. An earlier time has no effect.
func (p *trunkPause) extend(until time.Time, spendCap bool) {
	if until.After(p.until) {
		p.until, p.spendCap = until, spendCap
	}
}
