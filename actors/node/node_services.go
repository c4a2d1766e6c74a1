package node

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/sms"
)

// Services are what the node asks while calls and messages come in and its actors work. The composition root sets them with
// Connect before Start.
type Services struct {
	Scripts   Scripts
	Agents    AgentRuntime
	Engines   EngineProbe
	Messages  Messages
	Phones    Phones
	DNC       DNC
	OptOuts   OptOuts
	Analysis  Analysis
	Alerts    AlertReader
	Retention Retention
	Lifecycle Lifecycle
}

// Scripts resolves what an agent says and does in a call.
type Scripts interface {
	// Script returns the script of an agent or a pathway. Errors: not_found, validation_failed, no_engine.
	Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
}

// AgentRuntime runs the model and the actions of agents in calls.
type AgentRuntime interface {
	// ForCall returns what the conversation of a call asks for replies and actions.
	ForCall(c domain.Call) conversation.AgentRuntime
	// LookUpInbound requests the variables of an inbound call and returns what its opening commits of them.
	LookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call)
	// PrefetchPrompts synthesizes the fixed prompts of a script.
	PrefetchPrompts(ctx context.Context, script *domain.Script)
}

// EngineProbe tests the engines of agents without a call.
type EngineProbe interface {
	// ProbeEngines returns the error of the first engine of an agent that does not answer.
	ProbeEngines(ctx context.Context, script *domain.Script) error
}

// Messages stores SMS messages and delivery reports that trunks send.
type Messages interface {
	// ReceiveFromTrunk stores an inbound message. key is the trunk's name for it: a message that comes again is stored once.
	ReceiveFromTrunk(ctx context.Context, m *domain.Message, trunkID, key string) error
	// MessageByKey returns a message and its version; nil if there is none.
	MessageByKey(ctx context.Context, key domain.Key) (*domain.Message, uint64, error)
	// ApplyReport stores a delivery report in the message.
	ApplyReport(ctx context.Context, key domain.Key, r *sms.Report) error
	// FinishDeliveries waits until no message is being sent, or ctx ends.
	FinishDeliveries(ctx context.Context)
}

// Phones finds the phones of a workspace.
type Phones interface {
	// Phone returns a phone by its id. Errors: not_found.
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	// FindRegistered returns the registered contacts of an extension or user name; isPhone is false for a phone number.
	FindRegistered(ctx context.Context, p domain.Principal, to string) (found registrar.PhoneFound, isPhone bool, err error)
}

// DNC checks numbers against the do-not-call lists.
type DNC interface {
	// CheckNotListed returns dnc_blocked for a number on a list of the workspace.
	CheckNotListed(ctx context.Context, p domain.Principal, e164 string) error
}

// OptOuts adds remote parties who opt out to a do-not-call list.
type OptOuts interface {
	// OptOut adds the remote party of a call to the default list of its workspace.
	OptOut(c domain.Call, channel, keyword string)
}

// Analysis analyses calls that have ended.
type Analysis interface {
	// Wake says that a call of a workspace waits for its analysis.
	Wake(workspaceID string)
}

// AlertReader reads what alert rules watch.
type AlertReader interface {
	// Read returns the findings by rule id; nil while the node is stopping.
	Read(ctx context.Context, rules []*domain.AlertRule) map[string]alerts.RuleReadings
}

// Retention deletes rows whose retention period is over.
type Retention interface {
	// Sweep deletes those of a workspace. It logs its errors and returns them.
	Sweep(ctx context.Context, workspaceID string, now time.Time) error
}

// Lifecycle starts and ends the services together with the node.
type Lifecycle interface {
	// Load reads what must be known of a workspace before its actors run.
	Load(ctx context.Context, workspaceID string) error
	// Resume continues what an earlier process left unfinished. The actors of the workspaces run. run ends with the node.
	Resume(ctx, run context.Context, workspaceIDs []string) error
	// Run starts the background tasks that run until ctx ends.
	Run(ctx context.Context)
	// Finish ends background jobs before the actors stop.
	Finish()
}

// Connect sets the services. It must be called once, before Start.
func (n *Node) Connect(s *Services) {
	n.services = *s
	n.transferTargets = &transferTargets{destinations: n.workspaceTrunks, dnc: s.DNC, phones: s.Phones}
}
