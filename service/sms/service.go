// Package sms is the service for SMS messages: it sends and receives them over SIP trunks and HTTP gateways,
// applies opt-outs, and makes agents reply.
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

// Store is the store of messages, with its health.
type Store interface {
	commit.Store
	// Healthy returns nil while the store accepts commits.
	Healthy() error
}

// numbers are the phone numbers of workspaces.
type numbers interface {
	// LiveNumber returns the live number of a workspace that equals e164; nil if there is none.
	LiveNumber(ctx context.Context, workspaceID string, env domain.Environment, e164 string) (*domain.PhoneNumber, error)
	// LiveNumbers returns all live numbers of a workspace.
	LiveNumbers(ctx context.Context, workspaceID string, env domain.Environment) ([]*domain.PhoneNumber, error)
	// CallerIDs returns the live numbers and the caller IDs of trunks.
	CallerIDs(ctx context.Context, p domain.Principal) ([]string, error)
}

// spending reserves and settles the cost of messages in the daily spend of workspaces.
type spending interface {
	// ReserveWithinCap reserves the cost of a message. Errors:
	// destination_not_allowed, spend_cap_reached.
	ReserveWithinCap(ctx context.Context, w *domain.Workspace, env domain.Environment, id, to string, segments int) error
	// ReserveSMS reserves the cost of a message, even beyond the cap.
	ReserveSMS(m *domain.Message)
	// SettleSMS settles the reserved cost of a message. sent reports whether a carrier accepted the message. found
	// reports that an earlier commit had already stored the final outcome.
	SettleSMS(m *domain.Message, sent, found bool)
}

// background runs functions that end with the node.
type background interface {
	// Context returns a context that ends when the node stops.
	Context() context.Context
	// RunInBackground runs f in a goroutine. When the node stops, it waits until f returns.
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

// Config holds the dependencies of a Service.
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
	// Script returns the script of an agent or pathway, which defines the conversation with the contact.
	Script func(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error)
	// AgentRuntime returns the agent runtime for an SMS conversation, which is passed as the call c. from is the sender
	// number of the replies.
	AgentRuntime func(p domain.Principal, c domain.Call, from string) conversation.AgentRuntime
	Log          *slog.Logger
}

// Service sends, receives and replies to SMS messages.
type Service struct {
	store      Store
	cfg        Config
	senders    record.KeyedMutex    // by sender: serializes the receipt of messages, so that an opt-out is confirmed once
	messages   record.WorkspaceTask // carries out pending steps of messages
	replies    record.WorkspaceTask // replies to messages
	deliveries *deliveriesInProgress
	replying   repliesInProgress
}

// New returns a Service. Run starts its background work.
func New(cfg Config) *Service {
	return &Service{
		store: cfg.Store, cfg: cfg, messages: record.NewWorkspaceTask(), replies: record.NewWorkspaceTask(), deliveries: newDeliveriesInProgress(),
	}
}

// Restore restores pending opt-outs and retries of a workspace after a restart.
func (svc *Service) Restore(ctx context.Context, workspaceID string) error {
	if err := svc.restoreOptOuts(ctx, workspaceID); err != nil {
		return err
	}
	return svc.resumeRetries(ctx, workspaceID)
}

// Resume continues deliveries and replies of a workspace.
func (svc *Service) Resume(workspaceID string) {
	svc.messages.Wake(workspaceID)
	svc.replies.Wake(workspaceID)
}

// Run delivers messages and replies to them until ctx ends.
func (svc *Service) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { svc.messages.Run(ctx, svc.cfg.Log, "SMS delivery", svc.processDue) })
	wait.Go(func() { svc.replies.Run(ctx, svc.cfg.Log, "SMS replies", svc.replyToDue) })
	wait.Wait()
}

// FinishDeliveries prevents new deliveries and waits until the running deliveries or ctx end.
func (svc *Service) FinishDeliveries(ctx context.Context) { svc.deliveries.finish(ctx) }
