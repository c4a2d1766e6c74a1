package trunk

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// register begins the registrations that are missing or have changed, and ends
// those that are wanted no more.
func (t *Trunks) register(ctx actor.Context) {
	if t.cfg.Register == nil {
		return
	}
	wanted := make(map[string]bool)
	for _, b := range t.trunks {
		tr := b.trunk
		if !tr.Register || tr.Simulator || tr.Auth == nil {
			b.signed = nil
			continue
		}
		wanted[tr.ID] = true
		of := fmt.Sprintf("%v|%v|%s", tr.Proxies, *tr.Auth, tr.FromDomain)
		was, begun := t.signed[tr.ID]
		if begun && was.of == of {
			continue
		}
		if begun {
			ctx.Poison(was.pid)
		}
		b.signed = &domain.TrunkRegistration{Status: string(sip.RegistrationTrying)}
		pid := ctx.SpawnPrefix(RegistrationProps(RegistrationConfig{Trunk: *tr, Register: t.cfg.Register, Log: t.cfg.Log}), RegistrationName(tr.ID))
		t.signed[tr.ID] = signed{pid: pid, of: of}
	}
	for id, s := range t.signed {
		if !wanted[id] {
			ctx.Poison(s.pid)
			delete(t.signed, id)
		}
	}
}

// registered keeps where a registration stands.
func (t *Trunks) registered(m Registered) {
	b := t.byID(m.TrunkID)
	if b == nil || b.signed == nil || m.State.Status == sip.RegistrationRemoved {
		return // of one that has been replaced
	}
	s := m.State
	shown := func(at time.Time) *time.Time {
		if at.IsZero() {
			return nil
		}
		u := at.UTC()
		return &u
	}
	b.signed = &domain.TrunkRegistration{
		Status: string(s.Status), Code: s.Code, Reason: s.Reason, Expires: shown(s.Expires), RetryAt: shown(s.RetryAt),
	}
}
