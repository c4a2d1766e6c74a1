package trunk_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Calls to unknown numbers go to the oldest trunk with their source address. A workspace that later adds a trunk with
// the address of another workspace's carrier must not get them.
func TestOldestTrunkOfASourceTakesItsCalls(t *testing.T) {
	t.Parallel()
	at := func(id, from string, day int) domain.Trunk {
		return newTrunk(id, func(t *domain.Trunk) {
			t.CreatedAt = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
			t.Inbound.AllowedIPs = []string{from}
			t.Inbound.Auth = &domain.TrunkAuth{Username: "same", Password: id}
		})
	}
	for _, from := range []string{"198.51.100.7", "198.51.100.0/24", "198.51.100.7/32"} {
		for range 20 { // the workspaces are in a map with random order
			b := trunk.NewSources()
			b.Set(t.Context(), b.NextUpdate(), "ws_late", []domain.Trunk{at("late", from, 2)})
			b.Set(t.Context(), b.NextUpdate(), "ws_first", []domain.Trunk{at("first", "198.51.100.0/24", 1)})
			b.Set(t.Context(), b.NextUpdate(), "ws_last", []domain.Trunk{at("last", from, 3)})
			source := netip.MustParseAddrPort("198.51.100.7:5060")
			var got []string
			for _, e := range b.TrunksAt(source) {
				got = append(got, e.Trunk.ID)
			}
			assert.Equal(t, []string{"first", "late", "last"}, got, from)
			a := b.Admit(transport.Source{Addr: source, Network: "udp"})
			who, known := a.Account("same")
			assert.True(t, known)
			assert.Equal(t, "first", who.ID, "the oldest trunk authenticates the user")
		}
	}
}

// An update whose DNS look-up is slow must not replace a newer update, or a deleted trunk would admit calls.
func TestSlowLookUpDoesNotRestoreADeletedTrunk(t *testing.T) {
	t.Parallel()
	b, asked, found := trunk.NewSources(), make(chan struct{}), make(chan struct{})
	b.Resolve = func(context.Context, resolve.Target) ([]resolve.Target, error) {
		close(asked)
		<-found
		return []resolve.Target{{Host: "198.51.100.7"}}, nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		turn := b.NextUpdate()
		b.Set(t.Context(), turn, "ws", []domain.Trunk{newTrunk("old", func(t *domain.Trunk) { t.Proxies = []domain.Proxy{{Host: "carrier.example"}} })})
	}()
	<-asked
	b.Set(t.Context(), b.NextUpdate(), "ws", nil)
	close(found)
	<-done
	assert.Empty(t, b.TrunksAt(netip.MustParseAddrPort("198.51.100.7:5060")))
}
