package trunk

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	sipregistration "github.com/callboard/callboard/sip/registration"
)

// registrations starts and stops a child actor for each trunk that registers with its carrier.
type registrations struct {
	register func(sipregistration.Config) (*sipregistration.Registration, error) // nil: no trunk registers
	log      *slog.Logger
	byTrunk  map[string]registrationChild
}

type registrationChild struct {
	pid      *actor.PID
	settings string // settings of the trunk when the child was started
}

// set starts the registrations of trunks that are new or have changed. It stops those of changed and removed trunks.
func (r *registrations) set(ctx actor.Context, trunks []*trunkState) {
	if r.register == nil {
		return
	}
	wanted := make(map[string]bool)
	for _, b := range trunks {
		tr := b.trunk
		if !tr.Register || tr.Simulator || tr.Auth == nil {
			b.registration = nil
			continue
		}
		wanted[tr.ID] = true
		settings := fmt.Sprintf("%v|%v|%s", tr.Proxies, *tr.Auth, tr.FromDomain)
		was, begun := r.byTrunk[tr.ID]
		if begun && was.settings == settings {
			continue
		}
		if begun {
			ctx.Poison(was.pid)
		}
		b.registration = &domain.TrunkRegistration{Status: string(sipregistration.Trying)}
		pid := ctx.SpawnPrefix(RegistrationProps(RegistrationConfig{Trunk: *tr, Register: r.register, Log: r.log}), RegistrationName(tr.ID))
		r.byTrunk[tr.ID] = registrationChild{pid: pid, settings: settings}
	}
	for id, s := range r.byTrunk {
		if !wanted[id] {
			ctx.Poison(s.pid)
			delete(r.byTrunk, id)
		}
	}
}

// update sets the registration state that the API shows for a trunk.
func (r *registrations) update(b *trunkState, s sipregistration.State) {
	if b == nil || b.registration == nil || s.Status == sipregistration.Removed {
		return // the state is of a registration that was replaced
	}
	shown := func(at time.Time) *time.Time {
		if at.IsZero() {
			return nil
		}
		u := at.UTC()
		return &u
	}
	b.registration = &domain.TrunkRegistration{
		Status: string(s.Status), Code: s.Code, Reason: s.Reason, Expires: shown(s.Expires), RetryAt: shown(s.RetryAt),
	}
}
