package trunk

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	sipregistration "github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
)

// registerAgain is the pause after a registration that could not even begin:
// SIP is not listening yet, or the trunk's record is unusable.
const registerAgain = 5 * time.Second

// What a registration hears and tells.
type (
	// Registered tells the parent of each change.
	Registered struct {
		TrunkID string
		State   sipregistration.State
	}

	registrationChanged struct{ state sipregistration.State }
	registrationRetry   struct{}
)

// Control: each is an answer, or bounded by what was asked.
func (Registered) Control()          {}
func (registrationChanged) Control() {}
func (registrationRetry) Control()   {}

// RegistrationConfig is what the registration of one trunk needs.
type RegistrationConfig struct {
	Trunk    domain.Trunk // with its credentials
	Register func(sipregistration.Config) (*sipregistration.Registration, error)
	Log      *slog.Logger
}

// registration keeps one trunk registered: the child "registration-<trunk>" of
// the trunks. Its end takes the contact back.
type registration struct {
	cfg RegistrationConfig
	now *sipregistration.Registration
}

// RegistrationName is the name of a trunk's child.
func RegistrationName(trunkID string) string { return "registration-" + trunkID }

// RegistrationProps make the child. It tells its parent Registered.
func RegistrationProps(cfg RegistrationConfig) *actor.Props {
	return mailbox.Props(func() actor.Actor { return &registration{cfg: cfg} }, 100)
}

// Receive is the table of contents.
func (r *registration) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, registrationRetry:
		r.start(ctx)
	case registrationChanged:
		r.report(ctx, m.state)
	case *actor.Stopping, *actor.Restarting:
		r.end()
	}
}

// start sends the first REGISTER; nothing here waits for the wire.
func (r *registration) start(ctx actor.Context) {
	if r.now != nil {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	to, ok := registerTo(&r.cfg.Trunk)
	if !ok {
		r.report(ctx, sipregistration.State{Status: sipregistration.Failed, Reason: "the trunk names no credentials and no proxy to register at"})
		return
	}
	to.Notify = func(s sipregistration.State) { root.Send(self, registrationChanged{state: s}) }
	now, err := r.cfg.Register(to)
	if err != nil {
		r.report(ctx, sipregistration.State{Status: sipregistration.Failed, Reason: err.Error(), RetryAt: time.Now().Add(registerAgain)})
		mailbox.SendAfter(ctx, registerAgain, registrationRetry{})
		return
	}
	r.now = now
}

// registerTo is where a trunk registers: at its first proxy, by priority, as
// the user of its credentials.
func registerTo(t *domain.Trunk) (sipregistration.Config, bool) {
	if t.Auth == nil || t.Auth.Username == "" || len(t.Proxies) == 0 {
		return sipregistration.Config{}, false
	}
	first := t.Proxies[0]
	for _, p := range t.Proxies[1:] {
		if p.Priority < first.Priority {
			first = p
		}
	}
	return sipregistration.Config{
		Target:      resolve.Target{Host: first.Host, Port: first.Port, Transport: first.Transport, TrunkID: t.ID},
		Environment: t.Environment, Domain: t.FromDomain, User: t.Auth.Username,
		Credentials: &auth.Credentials{Username: t.Auth.Username, Password: t.Auth.Password, Realm: t.Auth.Realm},
	}, true
}

// report reports a state to the parent.
func (r *registration) report(ctx actor.Context, s sipregistration.State) {
	if p := ctx.Parent(); p != nil {
		ctx.Send(p, Registered{TrunkID: r.cfg.Trunk.ID, State: s})
	}
	about := []any{
		slog.String("trunk_id", r.cfg.Trunk.ID), slog.String("status", string(s.Status)), slog.Int("code", s.Code), slog.String("reason", s.Reason),
	}
	if s.Status == sipregistration.Failed {
		r.cfg.Log.Warn("a trunk is not registered", about...)
		return
	}
	r.cfg.Log.Info("the registration of a trunk has changed", about...)
}

func (r *registration) end() {
	if r.now != nil {
		r.now.Stop(nil)
		r.now = nil
	}
}
