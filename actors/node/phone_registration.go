package node

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	sipregistrar "github.com/callboard/callboard/sip/registrar"
)

// sipForbidden is the response to a phone that calls an outside number: phones may call only the agents of their
// workspace.
const sipForbidden = 403

// registerPhone passes a REGISTER to the registrar actor of its workspace and returns at once.
func (n *Node) registerPhone(u *sipregistrar.Update) {
	x, known := n.phones.Phone(u.AccountID)
	t := n.tree(x.WorkspaceID)
	if !known || t == nil || n.drain.isStopping() || !n.loaded.Load() {
		u.Refuse(sipUnavailable, overloadAfter)
		return
	}
	n.sys.Root.Send(t.phones, registrar.RegisterPhone{Update: u})
}

// ReloadPhones reads the phones of a workspace from the store and updates the phone directory and the registrar actor.
func (n *Node) ReloadPhones(ctx context.Context, workspaceID string) error {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return err
	}
	t.settingsMu.Lock()
	defer t.settingsMu.Unlock()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	list, err := n.rows.phones(bound, workspaceID)
	if err != nil {
		return commit.StoreError(err)
	}
	n.phones.Set(workspaceID, list)
	n.sys.Root.Send(t.phones, registrar.SetPhones{Phones: list})
	return nil
}

// phones returns the stored phones of a workspace.
func (st *actorRows) phones(ctx context.Context, workspaceID string) ([]domain.Phone, error) {
	var out []domain.Phone
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err := commit.ForEachRow(ctx, st.store, "phone", workspaceID, "env="+string(env), func(x *domain.Phone) { out = append(out, *x) })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// phoneProps returns the actor props of the registrar actor of a workspace.
func (n *Node) phoneProps(workspaceID string) *actor.Props {
	return mailbox.Props(n.observeMessages("phones", func() actor.Actor {
		return registrar.New(registrar.Config{
			Workspace: workspaceID, Phones: func() []domain.Phone { return n.phones.PhonesOf(workspaceID) },
			Store: n.cfg.Store, Book: n.phones, Log: n.cfg.Log,
		})
	}), 10_000)
}

// ListContacts returns the registered contacts of a workspace's phones.
func (n *Node) ListContacts(ctx context.Context, workspaceID string) (registrar.ContactList, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return registrar.ContactList{}, err
	}
	return mailbox.Ask[registrar.ContactList](ctx, n.sys, t.phones, registrar.ListContacts{})
}

// FindPhone returns a phone of a workspace by its extension or user name. Errors: not_found.
func (n *Node) FindPhone(ctx context.Context, workspaceID string, f registrar.FindPhone) (registrar.PhoneFound, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return registrar.PhoneFound{}, err
	}
	return mailbox.Ask[registrar.PhoneFound](ctx, n.sys, t.phones, f)
}
