package registrar_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	sipregistrar "github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// slowStore is a store whose first commit waits until the test closes gate.
type slowStore struct {
	once sync.Once
	gate chan struct{}
}

func (s *slowStore) Apply(ctx context.Context, _ commit.Change) ([]event.Event, error) {
	s.once.Do(func() {
		select {
		case <-s.gate:
		case <-ctx.Done():
		}
	})
	return nil, ctx.Err()
}

func (*slowStore) List(context.Context, commit.Query, func() domain.Record, func(domain.Record) error) (string, error) {
	return "", nil
}

func startUserAgent(t *testing.T, prepare func(*sip.UserAgent)) *sip.UserAgent {
	t.Helper()
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: "127.0.0.1:0"}}})
	require.NoError(t, err)
	prepare(ua)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = ua.Serve(context.Background())
	}()
	t.Cleanup(func() {
		_ = ua.Close()
		<-done
	})
	<-ua.Ready()
	return ua
}

// A REGISTER that waits in the queue while the phone's password changes must be refused, because the old password may
// be stolen.
func TestQueuedRegisterIsRefusedAfterAPasswordChange(t *testing.T) {
	t.Parallel()
	phone := func(name, password string) domain.Phone {
		return domain.Phone{Meta: domain.Meta{ID: name, WorkspaceID: "ws", Environment: domain.Live}, Username: name, Password: password}
	}
	known := []domain.Phone{phone("ann", "a"), phone("bob", "b")}
	book := registrar.NewPhoneDirectory()
	book.Set("ws", known)
	store := &slowStore{gate: make(chan struct{})}
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	t.Cleanup(sys.Shutdown)
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
		return registrar.New(registrar.Config{Workspace: "ws", Phones: func() []domain.Phone { return known }, Store: store, Book: book, Log: slog.New(slog.DiscardHandler)})
	}, 100))
	came := make(chan string, 4)
	phoneServer := startUserAgent(t, func(ua *sip.UserAgent) {
		ua.SetRegistrar(sipregistrar.Config{HasPhones: book.HasPhones, Account: book.Account, Presence: book.PresenceAt, Update: func(u *sipregistrar.Update) {
			sys.Root.Send(pid, registrar.RegisterPhone{Update: u})
			came <- u.AccountID
		}})
	})
	client := startUserAgent(t, func(*sip.UserAgent) {})
	register := func(user, password string) chan int {
		codes := make(chan int, 16)
		at := phoneServer.Addr("udp")
		_, err := registration.Start(client, registration.Config{
			Target: resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}, User: user,
			Credentials: &auth.Credentials{Username: user, Password: password},
			Notify: func(s registration.State) {
				if s.Code > 0 {
					codes <- s.Code
				}
			},
		})
		require.NoError(t, err)
		select {
		case who := <-came:
			require.Equal(t, user, who)
		case <-time.After(time.Minute):
			require.Fail(t, "no REGISTER came")
		}
		return codes
	}
	soon := func(codes chan int) int {
		select {
		case code := <-codes:
			return code
		case <-time.After(time.Minute):
			return 0
		}
	}
	ann := register("ann", "a") // its commit waits
	bob := register("bob", "b") // waits behind it
	changed := []domain.Phone{known[0], phone("bob", "new")}
	book.Set("ws", changed)
	sys.Root.Send(pid, registrar.SetPhones{Phones: changed})
	_, err := mailbox.Ask[registrar.ContactList](t.Context(), sys, pid, registrar.ListContacts{})
	require.NoError(t, err)
	close(store.gate)
	assert.Equal(t, 200, soon(ann))
	assert.Equal(t, 403, soon(bob))
	now, err := mailbox.Ask[registrar.ContactList](t.Context(), sys, pid, registrar.ListContacts{})
	require.NoError(t, err)
	assert.Len(t, now.Contacts["ann"], 1)
	assert.Empty(t, now.Contacts["bob"])
}
