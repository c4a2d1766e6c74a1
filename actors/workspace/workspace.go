// Package workspace is the parent of everything that works for one tenant:
// its lines, trunks, calls, campaigns, endpoints and outbox. It decides
// nothing, so that nothing can go wrong in it: a fault in one child is that
// child's, and parents are never restarted, because that would stop the calls
// below them.
package workspace

import (
	"log/slog"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// The names of the children. Their addresses are <workspace>/<name>, so that
// each can be told the address of the others before they live.
const (
	LinesOut  = "lines-out"
	LinesTest = "lines-test"
	LinesIn   = "lines-in"
	Trunks    = "trunks"
	Numbers   = "numbers"
	Calls     = "calls"
	Campaigns = "campaigns"
	Webhooks  = "webhooks"
	Outbox    = "outbox"
	Phones    = "phones"
)

// PID is the address of a child of a workspace.
func PID(sys *actor.ActorSystem, workspaceID string, path ...string) *actor.PID {
	return sys.NewLocalPID(strings.Join(append([]string{workspaceID}, path...), "/"))
}

// Child is one child to grow.
type Child struct {
	Name  string
	Props *actor.Props
}

// Config lists the children in the order of their start: those that others ask come first.
type Config struct {
	Children []Child
	First    func(ctx actor.Context) // once they live, before anybody else is heard; may be nil
	OnGiveUp func(pid *actor.PID, reason any)
	Log      *slog.Logger
}

// Props make a workspace.
func Props(cfg Config) *actor.Props {
	grown := false
	return actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); !ok || grown {
			return
		}
		grown = true
		for _, c := range cfg.Children {
			if _, err := ctx.SpawnNamed(c.Props, c.Name); err != nil {
				cfg.Log.Error("an actor of the workspace could not be started",
					slog.String("workspace_id", ctx.Self().Id), slog.String("actor", c.Name), slog.Any("error", err))
			}
		}
		if cfg.First != nil {
			cfg.First(ctx)
		}
	}, actor.WithSupervisor(newRule(cfg.Log, cfg.OnGiveUp)))
}

// rule restarts leaves, whose state is loaded anew, and resumes parents.
type rule struct{ leaf, parent actor.SupervisorStrategy }

func newRule(log *slog.Logger, onGiveUp func(*actor.PID, any)) *rule {
	return &rule{leaf: mailbox.Restart(log, onGiveUp), parent: mailbox.Resume(log, nil)}
}

// HandleFailure is protoactor's.
func (r *rule) HandleFailure(sys *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	name := child.Id[strings.LastIndexByte(child.Id, '/')+1:]
	s := r.leaf
	if name == Calls || name == Campaigns || name == Webhooks || name == Trunks {
		s = r.parent
	}
	s.HandleFailure(sys, sup, child, rs, reason, message)
}

// Messages to a supervisor of SupervisorProps.
type (
	// Hatch grows the child of an id, unless it lives; the answer is Hatched.
	Hatch struct{ ID string }
	// Hatched answers Hatch.
	Hatched struct{}
	// Tell hands a message to every child.
	Tell struct{ Message any }
)

// Control admits it always.
func (Hatch) Control() {}

// Control admits it always.
func (Tell) Control() {}

// supervisor is a parent of actors of one kind, by id; each is restarted from the
// store when it fails.
type supervisor struct {
	props func(id string) *actor.Props
	first []string
}

// SupervisorProps makes the properties of a parent whose children are restarted.
func SupervisorProps(first []string, props func(id string) *actor.Props, log *slog.Logger, onGiveUp func(pid *actor.PID, reason any)) *actor.Props {
	f := &supervisor{props: props, first: first}
	return mailbox.Props(func() actor.Actor { return f }, 10_000, actor.WithSupervisor(mailbox.Restart(log, onGiveUp)))
}

// Receive is the table of contents.
func (f *supervisor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		for _, id := range f.first {
			_, _ = ctx.SpawnNamed(f.props(id), id) // fails only where it lives already
		}
		f.first = nil
	case Hatch:
		_, _ = ctx.SpawnNamed(f.props(m.ID), m.ID) // fails only where it lives already
		ctx.Respond(Hatched{})
	case Tell:
		for _, child := range ctx.Children() {
			ctx.Send(child, m.Message)
		}
	}
}
