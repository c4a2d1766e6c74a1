package sms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/sms"
)

// addOptOut adds the opt-out of a sender to a commit: the processing step that stores the opt-out, and the notice that
// confirms it. It adds nothing if the opt-out is already stored or pending.
func (svc *Service) addOptOut(ctx context.Context, c *commit.Change, m *domain.Message, number uint64) error {
	scrub := dnc.ScrubRules{Default: domain.DefaultDNCID(m.WorkspaceID, m.Environment), OptOutsOnly: true}
	svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, scrub.Default, number)
	claim := pendingOptOut(m)
	_, err := svc.store.Get(ctx, claim) // read before the list: the row is deleted after the number is on the list
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return commit.StoreError(err)
	}
	isPending := err == nil || slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return r.Key() == claim.Key() })
	hit, err := svc.cfg.DNC.FindStoredMatch(ctx, m.WorkspaceID, scrub, number)
	switch {
	case err != nil:
		return commit.StoreError(err)
	case hit != nil:
		svc.cfg.DNC.RemovePendingOptOut(m.WorkspaceID, scrub.Default, number)
		return nil
	case isPending:
		return nil
	}
	m.Todo = domain.TodoOptOut
	notice := &domain.Message{
		Direction: domain.Outbound, From: m.To, To: m.From, Body: sms.OptOutNotice, Status: domain.MessageQueued, Notice: true, ReplyTo: m.ID, Todo: firstPendingStep(m.Environment),
	}
	svc.setMessageMeta(notice, domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment})
	c.Guards = append(c.Guards, commit.Absent(claim.Key()))
	c.Puts = append(c.Puts, claim, notice)
	return nil
}

// optOutRow is the database row of a pending opt-out. It exists until the number is on the do-not-call list, and
// ensures that a repeated opt-out is confirmed once.
type optOutRow struct {
	WorkspaceID string             `json:"workspace_id"`
	Environment domain.Environment `json:"environment"`
	Number      string             `json:"number"`
}

// pendingOptOut returns the row of a pending opt-out by the sender of a message.
func pendingOptOut(m *domain.Message) *optOutRow {
	return &optOutRow{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Number: m.From}
}

// Key returns a key with a digest of the number instead of the number, because errors of the store contain keys.
func (r *optOutRow) Key() domain.Key {
	sum := sha256.Sum256([]byte(r.Number))
	return domain.Key{Kind: "sms_stop", Workspace: r.WorkspaceID, ID: string(r.Environment) + "/" + hex.EncodeToString(sum[:])}
}

// OptOutKey returns the key of the pending opt-out of a number (E.164).
func OptOutKey(workspaceID string, env domain.Environment, number string) domain.Key {
	return (&optOutRow{WorkspaceID: workspaceID, Environment: env, Number: number}).Key()
}

// Indexes returns nil: the row is read by its key only.
func (r *optOutRow) Indexes() []string { return nil }

// Sort returns "": the row is in no index.
func (r *optOutRow) Sort() string { return "" }

// storeOptOut adds the sender of a message to the default do-not-call list. Repeating storeOptOut after a crash
// changes nothing.
func (svc *Service) storeOptOut(ctx context.Context, m *domain.Message) error {
	number, err := dnc.PackNumber(m.From)
	if err != nil {
		m.Todo = ""
		return nil //nolint:nilerr // the number can get no messages
	}
	list := domain.DefaultDNCID(m.WorkspaceID, m.Environment)
	optedOut := outbox.NewEvent(&m.Meta, event.ContactOptedOut, m.ID, domain.UnitID(m.WorkspaceID), event.OptedOutData{
		Phone: m.From, Channel: "sms", Keyword: m.Body, MessageID: m.ID, ListID: list,
	})
	origin := dnc.Origin{Source: domain.DNCOptOut, At: m.CreatedAt, CallID: m.ID}
	if _, err = svc.cfg.DNC.AddNumbers(ctx, m.WorkspaceID, list, []uint64{number}, origin, optedOut); err != nil {
		return err
	}
	svc.cfg.DNC.RemovePendingOptOut(m.WorkspaceID, list, number)
	m.Todo = ""
	return nil
}

// restoreOptOuts restores opt-outs that an earlier process received but did not add to the do-not-call list.
func (svc *Service) restoreOptOuts(ctx context.Context, workspaceID string) error {
	return commit.ForEachRow(ctx, svc.store, "message", workspaceID, "todo", func(m *domain.Message) {
		if number, err := dnc.PackNumber(m.From); err == nil && m.Todo == domain.TodoOptOut {
			svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, domain.DefaultDNCID(m.WorkspaceID, m.Environment), number)
		}
	})
}
