// Package workspace is the parent actor of the actors of one workspace: its lines, trunks, calls, campaigns, webhooks
// and outbox.
//
// It only starts and supervises these child actors, and makes no decision of its own. A failed child is restarted or
// resumed. The workspace actor itself is never restarted, because that would stop its live calls.
package workspace

import (
	"log/slog"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// Names of the child actors. The PID of a child is <workspace>/<name>, so that the PIDs are known before the children
// start.
const (
	OutboundLines = "lines-out"
	TestLines     = "lines-test"
	InboundLines  = "lines-in"
	Trunks        = "trunks"
	Numbers       = "numbers"
	Calls         = "calls"
	Campaigns     = "campaigns"
	Webhooks      = "webhooks"
	Outbox        = "outbox"
	Registrar     = "phones"
)

// PID returns the PID of a child actor of a workspace, or of a child of that child. path contains the names below the
// workspace.
func PID(sys *actor.ActorSystem, workspaceID string, path ...string) *actor.PID {
	return sys.NewLocalPID(strings.Join(append([]string{workspaceID}, path...), "/"))
}

// Child is the name and the props of a child actor that the workspace starts.
type Child struct {
	Name  string
	Props *actor.Props
}

// Config configures a workspace actor. It starts Children in their order. A child must come after the children to which
// it sends requests.
type Config struct {
	Children   []Child
	AfterSpawn func(ctx actor.Context) // called once the children are spawned, before the first message; nil: none
	OnGiveUp   func(pid *actor.PID, reason any)
	Log        *slog.Logger
}

// Props returns the properties of a workspace actor.
func Props(cfg Config) *actor.Props {
	spawned := false
	return actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); !ok || spawned {
			return
		}
		spawned = true
		for _, c := range cfg.Children {
			if _, err := ctx.SpawnNamed(c.Props, c.Name); err != nil {
				cfg.Log.Error("actor of the workspace could not be started",
					slog.String("workspace_id", ctx.Self().Id), slog.String("actor", c.Name), slog.Any("error", err))
			}
		}
		if cfg.AfterSpawn != nil {
			cfg.AfterSpawn(ctx)
		}
	}, actor.WithSupervisor(newSupervision(cfg.Log, cfg.OnGiveUp)))
}

// supervision restarts a failed child actor that has no children, so that it loads its state again. A failed child
// that has children continues without a restart.
type supervision struct{ leaf, parent actor.SupervisorStrategy }

func newSupervision(log *slog.Logger, onGiveUp func(*actor.PID, any)) *supervision {
	return &supervision{leaf: mailbox.RestartStrategy(log, onGiveUp), parent: mailbox.ResumeStrategy(log, nil)}
}

// HandleFailure implements actor.SupervisorStrategy.
func (r *supervision) HandleFailure(sys *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	name := child.Id[strings.LastIndexByte(child.Id, '/')+1:]
	s := r.leaf
	if name == Calls || name == Campaigns || name == Webhooks || name == Trunks {
		s = r.parent
	}
	s.HandleFailure(sys, sup, child, rs, reason, message)
}

// Messages to an actor that SupervisorProps describes.
type (
	// SpawnChild starts the child actor with an ID unless it is running. The reply is ChildSpawned.
	SpawnChild struct{ ID string }
	// ChildSpawned is the reply to SpawnChild.
	ChildSpawned struct{}
	// Broadcast sends Message to every child actor.
	Broadcast struct{ Message any }
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (SpawnChild) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (Broadcast) Control() {}

// supervisor is the parent of all actors of one kind, such as the campaigns of a workspace. It restarts a failed child,
// which then reads its state from the store.
type supervisor struct {
	props func(id string) *actor.Props
	first []string
}

// SupervisorProps returns the properties of a parent actor that restarts failed children. first contains the IDs of the
// children that are started together with the parent.
func SupervisorProps(first []string, props func(id string) *actor.Props, log *slog.Logger, onGiveUp func(pid *actor.PID, reason any)) *actor.Props {
	f := &supervisor{props: props, first: first}
	return mailbox.Props(func() actor.Actor { return f }, 10_000, actor.WithSupervisor(mailbox.RestartStrategy(log, onGiveUp)))
}

// Receive implements actor.Actor.
func (f *supervisor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		for _, id := range f.first {
			_, _ = ctx.SpawnNamed(f.props(id), id) // fails only if the child is running
		}
		f.first = nil
	case SpawnChild:
		_, _ = ctx.SpawnNamed(f.props(m.ID), m.ID) // fails only if the child is running
		ctx.Respond(ChildSpawned{})
	case Broadcast:
		for _, child := range ctx.Children() {
			ctx.Send(child, m.Message)
		}
	}
}
