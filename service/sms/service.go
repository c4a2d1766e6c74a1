// Package sms sends and receives SMS messages over trunks and gateways, and lets
// agents answer them.
package sms

import (
	"context"
	"log/slog"
	"sync"

	"github.com/callboard/callboard/actors/conversation"
	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/textmessage"
)

// Store is the store of messages.
type Store interface {
	commit.Store
	// Healthy is nil while commits can be made.
	Healthy() error
}

// numbers are the phone numbers of workspaces.
type numbers interface {
	// LiveNumber returns the live number with these digits (E.164); nil: none.
	LiveNumber(ctx context.Context, workspaceID string, env domain.Environment, e164 string) (*domain.PhoneNumber, error)
	// LiveNumbers returns the numbers that are in use.
	LiveNumbers(ctx context.Context, workspaceID string, env domain.Environment) ([]*domain.PhoneNumber, error)
	// CallerIDs returns the live numbers and those that trunks list.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// spending reserves and settles the cost of messages in the daily spend of workspaces.
type spending interface {
	// ReserveWithinCap reserves the cost of a message. Errors:
	// destination_not_allowed, spend_cap_reached.
	ReserveWithinCap(ctx context.Context, w *domain.Workspace, env domain.Environment, id, to string, segments int) error
	// ReserveSMS reserves the cost of a message even beyond the cap.
	ReserveSMS(m *domain.Message)
	// SettleSMS ends a reservation; found says that the message was found ended.
	SettleSMS(m *domain.Message, sent, found bool)
}

// background runs work that ends with the node.
type background interface {
	// Context ends with the node.
	Context() context.Context
	// RunInBackground runs f in a goroutine that the node's end waits for.
	RunInBackground(f func())
}

// messageClient sends messages by SIP.
type messageClient interface {
	Send(ctx context.Context, m *textmessage.Message) (outcome.Final, error)
}

// gatewayClient sends signed requests to SMS gateways.
type gatewayClient interface {
	Send(ctx context.Context, r webhook.Request) webhook.SendResult
}

// Config is what the service needs.
type Config struct {
	Store         Store
	Workspaces    record.Workspaces
	Outbox        record.Outbox
	URLs          record.URLChecker
	Numbers       numbers
	Spending      spending
	Background    background
	SIP           messageClient
	Gateways      gatewayClient
	DNC           *register.Registry
	Zones         *calendar.SharedZones
	Redactor      func(workspaceID string) (*domain.Redactor, error)
	CheckCallerID func(ctx context.Context, p domain.Principal, from string) error
	// Script returns what an agent speaks.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// Mind returns the agent runtime of a conversation, which is shown as a call; from is
	// the number that it writes from.
	Mind func(p domain.Principal, c domain.Call, from string) conversation.AgentRuntime
	Log  *slog.Logger
}

// Service sends, receives and answers messages.
type Service struct {
	store      Store
	cfg        Config
	senders    record.KeyedMutex    // by sender: an opt-out is answered once
	messages   record.WorkspaceTask // takes the next step of messages
	replies    record.WorkspaceTask // answers messages
	deliveries *deliveriesInProgress
	replying   repliesInProgress
}

// New returns the service; Run delivers and answers messages.
func New(cfg Config) *Service {
	return &Service{
		store: cfg.Store, cfg: cfg, messages: record.NewWorkspaceTask(), replies: record.NewWorkspaceTask(), deliveries: newDeliveriesInProgress(),
	}
}

// Restore restores opt-outs and retries that an earlier process left in a workspace.
func (svc *Service) Restore(ctx context.Context, workspaceID string) error {
	if err := svc.restoreOptOuts(ctx, workspaceID); err != nil {
		return err
	}
	return svc.resumeRetries(ctx, workspaceID)
}

// Resume continues the messages of a workspace.
func (svc *Service) Resume(workspaceID string) {
	svc.messages.Wake(workspaceID)
	svc.replies.Wake(workspaceID)
}

// Run delivers and answers messages until ctx ends.
func (svc *Service) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { svc.messages.Run(ctx, svc.cfg.Log, "text messages", svc.processDue) })
	wait.Go(func() { svc.replies.Run(ctx, svc.cfg.Log, "answers to text messages", svc.answerDue) })
	wait.Wait()
}

// FinishDeliveries begins no more deliveries and waits for those in progress, until ctx
// ends.
func (svc *Service) FinishDeliveries(ctx context.Context) { svc.deliveries.finish(ctx) }
