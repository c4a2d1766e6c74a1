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

// registerRetry is the pause after a registration that could not start, either because SIP is not listening yet or
// because the trunk's settings are unusable.
const registerRetry = 5 * time.Second

// Messages of the registration actor.
type (
	// Registered reports each change of a registration's state to the parent actor.
	Registered struct {
		TrunkID string
		State   sipregistration.State
	}

	registrationChanged struct{ state sipregistration.State }
	registrationRetry   struct{}
)

// Control marks the messages as ones that a full mailbox admits too, because each is an answer or a timer message.
func (Registered) Control()          {}
func (registrationChanged) Control() {}
func (registrationRetry) Control()   {}

// RegistrationConfig configures the registration of one trunk.
type RegistrationConfig struct {
	Trunk    domain.Trunk // with its credentials
	Register func(sipregistration.Config) (*sipregistration.Registration, error)
	Log      *slog.Logger
}

// registration is the actor that keeps one trunk registered with its carrier. It is a child of the trunks actor.
// When it stops, it removes its contact from the carrier's registrar.
type registration struct {
	cfg     RegistrationConfig
	current *sipregistration.Registration
}

// RegistrationName returns the name of the child actor for a trunk.
func RegistrationName(trunkID string) string { return "registration-" + trunkID }

// RegistrationProps returns the properties of the child actor, which reports Registered to its parent.
func RegistrationProps(cfg RegistrationConfig) *actor.Props {
	return mailbox.Props(func() actor.Actor { return &registration{cfg: cfg} }, 100)
}

// Receive dispatches the messages of the actor.
func (r *registration) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, registrationRetry:
		r.start(ctx)
	case registrationChanged:
		r.report(ctx, m.state)
	case *actor.Stopping, *actor.Restarting:
		r.stop()
	}
}

// start sends the first REGISTER and does not wait for the response.
func (r *registration) start(ctx actor.Context) {
	if r.current != nil {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	to, ok := registerTo(&r.cfg.Trunk)
	if !ok {
		r.report(ctx, sipregistration.State{Status: sipregistration.Failed, Reason: "the trunk needs credentials and a proxy to register"})
		return
	}
	to.Notify = func(s sipregistration.State) { root.Send(self, registrationChanged{state: s}) }
	now, err := r.cfg.Register(to)
	if err != nil {
		r.report(ctx, sipregistration.State{Status: sipregistration.Failed, Reason: err.Error(), RetryAt: time.Now().Add(registerRetry)})
		mailbox.SendAfter(ctx, registerRetry, registrationRetry{})
		return
	}
	r.current = now
}

// registerTo returns the registration settings of a trunk: the preferred proxy of the trunk, and its credentials. It
// returns false if the trunk lacks either.
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

// report sends the state of the registration to the trunks actor, which is the parent.
func (r *registration) report(ctx actor.Context, s sipregistration.State) {
	if p := ctx.Parent(); p != nil {
		ctx.Send(p, Registered{TrunkID: r.cfg.Trunk.ID, State: s})
	}
	about := []any{
		slog.String("trunk_id", r.cfg.Trunk.ID), slog.String("status", string(s.Status)), slog.Int("code", s.Code), slog.String("reason", s.Reason),
	}
	if s.Status == sipregistration.Failed {
		r.cfg.Log.Warn("trunk not registered", about...)
		return
	}
	r.cfg.Log.Info("registration of a trunk changed", about...)
}

func (r *registration) stop() {
	if r.current != nil {
		r.current.Stop(nil)
		r.current = nil
	}
}
