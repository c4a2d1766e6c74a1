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

// Services are the use cases that the node calls for inbound calls, messages and its actors. The composition root
// sets them with Connect before Start.
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

// AgentRuntime runs the language model and the tools of agents during calls.
type AgentRuntime interface {
	// ForCall returns the runtime for the conversation of one call.
	ForCall(c domain.Call) conversation.AgentRuntime
	// LookUpInbound requests the variables of an inbound call. It returns a function that adds them to the commit
	// that opens the call.
	LookUpInbound(ctx context.Context, h *domain.AgentHook, c *domain.Call) func(*commit.Change, *domain.Call)
	// PrefetchPrompts synthesizes the fixed prompts of a script in advance.
	PrefetchPrompts(ctx context.Context, script *domain.Script)
}

// EngineProbe tests the engines of agents without a call.
type EngineProbe interface {
	// ProbeEngines returns the error of the first engine of an agent that does not answer.
	ProbeEngines(ctx context.Context, script *domain.Script) error
}

// Messages stores SMS messages and delivery reports that arrive over trunks.
type Messages interface {
	// ReceiveFromTrunk stores an inbound message. key is the trunk's identifier of the message: a repeated message
	// is stored once.
	ReceiveFromTrunk(ctx context.Context, m *domain.Message, trunkID, key string) error
	// MessageByKey returns a message and its row version; nil if there is no such message.
	MessageByKey(ctx context.Context, key domain.Key) (*domain.Message, uint64, error)
	// ApplyReport stores a delivery report in its message.
	ApplyReport(ctx context.Context, key domain.Key, r *sms.Report) error
	// FinishDeliveries returns when no message is being sent, or when ctx ends.
	FinishDeliveries(ctx context.Context)
}

// Phones finds the phones of a workspace.
type Phones interface {
	// Phone returns a phone by its id. Errors: not_found.
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	// FindRegistered returns the registered contacts of an extension or user name. isPhone is false if to is a
	// phone number.
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

// Analysis analyzes ended calls.
type Analysis interface {
	// Wake notifies the analysis of an ended call of a workspace.
	Wake(workspaceID string)
}

// AlertReader reads the measurements of alert rules.
type AlertReader interface {
	// Read returns the findings by rule id; nil while the node is stopping.
	Read(ctx context.Context, rules []*domain.AlertRule) map[string]alerts.RuleReadings
}

// Retention deletes rows after their retention period.
type Retention interface {
	// Sweep deletes the expired rows of a workspace. It logs its errors and returns them.
	Sweep(ctx context.Context, workspaceID string, now time.Time) error
}

// Lifecycle starts and ends the services together with the node.
type Lifecycle interface {
	// Load reads the data of a workspace that must be in memory before its actors run.
	Load(ctx context.Context, workspaceID string) error
	// Resume continues unfinished work of an earlier process, after the actors of the workspaces have started. run
	// ends with the node.
	Resume(ctx, run context.Context, workspaceIDs []string) error
	// Run starts background tasks that run until ctx ends.
	Run(ctx context.Context)
	// Finish ends the background jobs before the actors stop.
	Finish()
}

// Connect sets the services. The caller calls it once, before Start.
func (n *Node) Connect(s *Services) {
	n.services = *s
	n.transferTargets = &transferTargets{destinations: n.workspaceTrunks, dnc: s.DNC, phones: s.Phones}
}
