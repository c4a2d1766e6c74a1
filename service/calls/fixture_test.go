package calls_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/sip"
)

// caller returns a principal that may place calls in the live environment of the fake workspace.
func caller() domain.Principal {
	return domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
}

func newOrder() domain.NewCall {
	return domain.NewCall{To: "+12025550115", From: "+12025550100", AgentID: "agent_1"}
}

// fakeActor is an actor that records all messages and answers requests with answer.
type fakeActor struct {
	pid    *actor.PID
	mu     sync.Mutex
	got    []any
	answer func(message any) any // nil: no answer
}

func newFakeActor(system *actor.ActorSystem, answer func(message any) any) *fakeActor {
	f := &fakeActor{answer: answer}
	f.pid = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			f.mu.Lock()
			f.got = append(f.got, m)
			f.mu.Unlock()
			if ctx.Sender() == nil || f.answer == nil {
				return
			}
			if a := f.answer(m); a != nil {
				ctx.Respond(a)
			}
		}
	}))
	return f
}

// received returns all messages that the actor has received.
func (f *fakeActor) received() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]any(nil), f.got...)
}

// fakeNode is a fake of all dependencies in calls.Config, for the workspace ws_1.
type fakeNode struct {
	lines, trunks, numbers, calls *fakeActor

	store   commit.Store
	refusal error                    // error of CheckCallAdmission
	opened  func(call.OpeningCommit) // called with each opening; nil: not called
	openErr error                    // error of OpenCall
	listed  map[string]bool          // numbers on do-not-call lists
	shown   map[string]bool          // numbers that may be shown as caller ID
	deleted map[string]int           // number of deletions by recording name
	scripts map[string]*domain.Error // errors of Script, by agent
}

func (n *fakeNode) Workspace(id string) *domain.Workspace {
	if id != "ws_1" {
		return nil
	}
	return &domain.Workspace{Meta: domain.Meta{ID: id}, DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}}
}

func (n *fakeNode) WorkspaceNotFound() error { return domain.NotFound("workspace") }

func (n *fakeNode) find(workspaceID string, f *fakeActor) (*actor.PID, error) {
	if workspaceID != "ws_1" {
		return nil, n.WorkspaceNotFound()
	}
	return f.pid, nil
}

func (n *fakeNode) CallsPID(id string) (*actor.PID, error)   { return n.find(id, n.calls) }
func (n *fakeNode) TrunksPID(id string) (*actor.PID, error)  { return n.find(id, n.trunks) }
func (n *fakeNode) NumbersPID(id string) (*actor.PID, error) { return n.find(id, n.numbers) }
func (n *fakeNode) InboundLinesPID(id string) (*actor.PID, error) {
	return n.find(id, n.lines)
}

func (n *fakeNode) OutboundLinesPID(id string, _ domain.Environment) (*actor.PID, error) {
	return n.find(id, n.lines)
}

func (n *fakeNode) CheckCallAdmission() error        { return n.refusal }
func (n *fakeNode) CheckInboundCallAdmission() error { return n.refusal }

func (n *fakeNode) OpenCall(ctx context.Context, o call.OpeningCommit) error {
	if n.opened != nil {
		n.opened(o)
	}
	if n.openErr != nil {
		return n.openErr
	}
	change := commit.Change{Workspace: o.Call.WorkspaceID, Puts: append(o.Grant.Puts, o.Call, o.Attempt)}
	if o.AddTo != nil {
		o.AddTo(&change, o.Call)
	}
	_, err := n.store.Apply(ctx, change)
	return err
}

func (n *fakeNode) FindTransferTarget(context.Context, *domain.Call, *domain.AgentTransfer, call.TransferDestination) (transferleg.Target, error) {
	return transferleg.Target{To: "+12025550199"}, nil
}

func (n *fakeNode) Campaign(context.Context, domain.Principal, string) (*domain.Campaign, error) {
	return nil, domain.NotFound("campaign")
}

func (n *fakeNode) Agent(context.Context, domain.Principal, string) (*domain.Agent, error) {
	return nil, domain.NotFound("agent")
}

func (n *fakeNode) Script(_ context.Context, _ domain.Principal, agentID, _ string) (domain.Script, error) {
	if err := n.scripts[agentID]; err != nil {
		return domain.Script{}, err
	}
	return domain.Script{Version: 3}, nil
}

func (n *fakeNode) ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (domain.Script, error) {
	return n.Script(ctx, p, o.AgentID, o.PathwayID)
}

func (n *fakeNode) FindRegistered(context.Context, domain.Principal, string) (registrar.PhoneFound, bool, error) {
	return registrar.PhoneFound{}, false, nil
}

func (n *fakeNode) CallerIDs(context.Context, domain.Principal) ([]string, error) { return nil, nil }

func (n *fakeNode) CheckCallerID(_ context.Context, _ domain.Principal, from string) error {
	if !n.shown[from] {
		return domain.FieldError("from", domain.CodeCallerIDNotAllowed, "is not a number of the workspace")
	}
	return nil
}

func (n *fakeNode) CheckNotListed(_ context.Context, _ domain.Principal, e164 string) error {
	if n.listed[e164] {
		return domain.Errorf(domain.CodeDNCBlocked, "the number is on a do-not-call list")
	}
	return nil
}

func (n *fakeNode) Delete(_ context.Context, _, name string) error {
	n.deleted[name]++
	return nil
}

// userAgent is a fake SIP user agent that implements leg.DialogOpener.
type userAgent struct{}

func (userAgent) CallID(attempt string, _ int) string     { return attempt }
func (userAgent) InitialState(sip.Invite) sip.DialogState { return sip.DialogState{} }

// newFixture returns a service with a fake node that accepts every call.
func newFixture(t *testing.T) (*calls.Service, *fakeNode) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	system := mailbox.NewSystem(log)
	t.Cleanup(system.Shutdown)
	n := &fakeNode{
		store: pebbletest.Open(t), shown: map[string]bool{"+12025550100": true}, deleted: make(map[string]int),
		lines: newFakeActor(system, func(any) any { return lines.Permit{} }),
		trunks: newFakeActor(system, func(m any) any {
			w, _ := m.(trunk.RequestSlot)
			return trunk.Slot{CallID: w.CallID, From: w.From, Key: "target_1", Via: &domain.Trunk{}}
		}),
		numbers: newFakeActor(system, func(m any) any {
			may, _ := m.(numbers.RequestNumber)
			return numbers.NumberGranted{CallID: may.CallID, Generation: may.Generation}
		}),
		calls: newFakeActor(system, nil),
	}
	s := calls.New(calls.Config{
		Store: n.store, Workspaces: n, System: system, Actors: n, Permits: n, Admission: n, Opener: n, TransferTargets: n, Campaigns: n, Agents: n, Scripts: n,
		Phones: n, CallerIDs: n, DNC: n, Recordings: n, Traces: (*siptrace.Buffer)(nil), SIP: userAgent{}, Zones: calendar.NewSharedZones(),
		TestCalls: &testcalls.Registry{}, Log: log,
	})
	require.NotNil(t, s)
	return s, n
}
