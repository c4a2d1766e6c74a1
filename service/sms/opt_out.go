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

// addOptOut marks an opt-out to be stored and adds the notice that answers it, unless that
// is done or in progress.
func (svc *Service) addOptOut(ctx context.Context, c *commit.Change, m *domain.Message, number uint64) error {
	scrub := dnc.ScrubRules{Default: domain.DefaultDNCID(m.WorkspaceID, m.Environment), OptOutsOnly: true}
	svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, scrub.Default, number)
	claim := optOutClaim(m)
	_, err := svc.store.Get(ctx, claim) // before the list: the row is deleted once the number is listed
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return commit.StoreError(err)
	}
	heard := err == nil || slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return r.Key() == claim.Key() })
	hit, err := svc.cfg.DNC.FindStoredMatch(ctx, m.WorkspaceID, scrub, number)
	switch {
	case err != nil:
		return commit.StoreError(err)
	case hit != nil:
		svc.cfg.DNC.RemovePendingOptOut(m.WorkspaceID, scrub.Default, number)
		return nil
	case heard:
		return nil
	}
	m.Todo = domain.TodoOptOut
	notice := &domain.Message{
		Direction: domain.Outbound, From: m.To, To: m.From, Body: sms.OptOutNotice, Status: domain.MessageQueued, Notice: true, ReplyTo: m.ID, Todo: firstStep(m.Environment),
	}
	svc.setMessageMeta(notice, domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment})
	c.Guards = append(c.Guards, commit.Absent(claim.Key()))
	c.Puts = append(c.Puts, claim, notice)
	return nil
}

// optOutRow exists from an opt-out until its number is on the list, so that a repeated
// opt-out is answered once.
type optOutRow struct {
	WorkspaceID string             `json:"workspace_id"`
	Environment domain.Environment `json:"environment"`
	Number      string             `json:"number"`
}

// optOutClaim returns the row of the opt-out of a message's sender.
func optOutClaim(m *domain.Message) *optOutRow {
	return &optOutRow{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Number: m.From}
}

// Key names the row, by a digest of the number: errors of the store name rows.
func (s *optOutRow) Key() domain.Key {
	sum := sha256.Sum256([]byte(s.Number))
	return domain.Key{Kind: "sms_stop", Workspace: s.WorkspaceID, ID: string(s.Environment) + "/" + hex.EncodeToString(sum[:])}
}

// OptOutKey returns the key of the row of a number (E.164) whose opt-out is in progress.
func OptOutKey(workspaceID string, env domain.Environment, number string) domain.Key {
	return (&optOutRow{WorkspaceID: workspaceID, Environment: env, Number: number}).Key()
}

// Indexes: none.
func (s *optOutRow) Indexes() []string { return nil }

// Sort: none.
func (s *optOutRow) Sort() string { return "" }

// storeOptOut puts the sender of a message onto the default do-not-call list. Repeated after
// a crash, it changes nothing.
func (svc *Service) storeOptOut(ctx context.Context, m *domain.Message) error {
	number, err := dnc.PackNumber(m.From)
	if err != nil {
		m.Todo = ""
		return nil //nolint:nilerr // no message can be sent there
	}
	list := domain.DefaultDNCID(m.WorkspaceID, m.Environment)
	told := outbox.NewEvent(&m.Meta, event.ContactOptedOut, m.ID, domain.UnitID(m.WorkspaceID), event.OptedOutData{
		Phone: m.From, Channel: "sms", Keyword: m.Body, MessageID: m.ID, ListID: list,
	})
	origin := dnc.Origin{Source: domain.DNCOptOut, At: m.CreatedAt, CallID: m.ID}
	if _, err = svc.cfg.DNC.AddNumbers(ctx, m.WorkspaceID, list, []uint64{number}, origin, told); err != nil {
		return err
	}
	svc.cfg.DNC.RemovePendingOptOut(m.WorkspaceID, list, number)
	m.Todo = ""
	return nil
}

// restoreOptOuts lets opt-outs take effect that an earlier process had not put onto the list
// yet.
func (svc *Service) restoreOptOuts(ctx context.Context, workspaceID string) error {
	return commit.ForEachRow(ctx, svc.store, "message", workspaceID, "todo", func(m *domain.Message) {
		if number, err := dnc.PackNumber(m.From); err == nil && m.Todo == domain.TodoOptOut {
			svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, domain.DefaultDNCID(m.WorkspaceID, m.Environment), number)
		}
	})
}
