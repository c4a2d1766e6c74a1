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

// Services are the services that the node calls for inbound calls, messages and its actors. The main package sets
// them with Connect before Start.
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

// Scripts resolves the script of an agent: its prompts, pathway and engines.
type Scripts interface {
	// Script returns the script of an agent or a pathway. Errors: not_found, validation_failed, no_engine.
	Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
}

// AgentRuntime provides the language model and the tools that an agent uses during calls.
type AgentRuntime interface {
	// ForCall returns an agent runtime for the conversation of one call.
	ForCall(c domain.Call) conversation.AgentRuntime
	// LookUpInbound requests the variables of an inbound call from the agent's hook. It returns a function that adds
	// them to the commit that opens the call.
	LookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call)
	// PrefetchPrompts synthesizes the fixed prompts of a script in advance.
	PrefetchPrompts(ctx context.Context, script *domain.Script)
}

// EngineProbe tests the engines of agents without a call.
type EngineProbe interface {
	// ProbeEngines returns the error of the first engine of an agent that does not answer.
	ProbeEngines(ctx context.Context, script *domain.Script) error
}

// Messages stores the SMS messages and delivery reports that arrive over trunks.
type Messages interface {
	// ReceiveFromTrunk stores an inbound message. key identifies the message at the trunk: a message that the trunk
	// repeats is stored once.
	ReceiveFromTrunk(ctx context.Context, m *domain.Message, trunkID, key string) error
	// MessageByKey returns a message and the version of its row. It returns nil if no such message is stored.
	MessageByKey(ctx context.Context, key domain.Key) (*domain.Message, uint64, error)
	// ApplyReport stores the result of a delivery report in the message that it reports on.
	ApplyReport(ctx context.Context, key domain.Key, r *sms.Report) error
	// FinishDeliveries returns when no message is being sent, or when ctx ends.
	FinishDeliveries(ctx context.Context)
}

// Phones finds the phones of a workspace.
type Phones interface {
	// Phone returns a phone by its id. Errors: not_found.
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	// FindRegistered returns the phone with an extension or user name, and its registered contacts. isPhone is false if
	// to is a phone number.
	FindRegistered(ctx context.Context, p domain.Principal, to string) (found registrar.PhoneFound, isPhone bool, err error)
}

// DNC checks numbers against the do-not-call lists.
type DNC interface {
	// CheckNotListed returns dnc_blocked if the number is on a do-not-call list of the workspace.
	CheckNotListed(ctx context.Context, p domain.Principal, e164 string) error
}

// OptOuts adds remote parties that opt out to a do-not-call list.
type OptOuts interface {
	// OptOut adds the remote party of a call to the default do-not-call list of its workspace.
	OptOut(c domain.Call, channel, keyword string)
}

// Analysis analyzes the conversations of ended calls.
type Analysis interface {
	// Wake notifies the analysis that a call of a workspace has ended.
	Wake(workspaceID string)
}

// AlertReader evaluates alert rules.
type AlertReader interface {
	// Read returns the readings of alert rules by rule id. It returns nil while the node is stopping.
	Read(ctx context.Context, rules []*domain.AlertRule) map[string]alerts.RuleReadings
}

// Retention deletes rows after their retention period.
type Retention interface {
	// Sweep deletes the expired rows of a workspace. It logs its errors and returns them.
	Sweep(ctx context.Context, workspaceID string, now time.Time) error
}

// Lifecycle loads, starts and ends the services together with the node.
type Lifecycle interface {
	// Load reads the data of a workspace that its actors expect in memory. The node calls it before the actors start.
	Load(ctx context.Context, workspaceID string) error
	// Resume continues work that an earlier process left unfinished. The node calls it after the actors of the
	// workspaces have started. The context run ends when the node stops.
	Resume(ctx, run context.Context, workspaceIDs []string) error
	// Run starts background tasks that run until ctx ends.
	Run(ctx context.Context)
	// Finish ends the background jobs. The node calls it before its actors stop.
	Finish()
}

// Connect sets the services that the node calls. The caller calls it once, before Start.
func (n *Node) Connect(s *Services) {
	n.services = *s
	n.transferTargets = &transferTargets{destinations: n.workspaceTrunks, dnc: s.DNC, phones: s.Phones}
}
