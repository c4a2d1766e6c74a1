package domain_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestPackedDeliveryRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	states := []domain.DeliveryState{domain.DeliveryQueued, domain.DeliveryRetrying, domain.DeliveryDelivered, domain.DeliveryFailed, "another"}
	for range 2000 {
		want := new(domain.Delivery)
		fillRandomly(r, reflect.ValueOf(want).Elem())
		want.WorkspaceID, want.WebhookID, want.EventID = "ws_1", "wh_1", "evt_1"
		want.TraceParent = "" // not stored
		want.State = states[r.IntN(len(states))]
		packed := want.AppendPacked([]byte("before"))
		got := &domain.Delivery{ID: "before", Error: "before"}
		require.True(t, got.ReadPacked(want.Key(), slices.Clone(packed[len("before"):])))
		require.Equal(t, want, got)
	}
}

func TestInvalidPackedDeliveryLeavesRecordUnchanged(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	want := &domain.Delivery{
		ID: "dlv_1", WorkspaceID: "ws_1", WebhookID: "wh_1", EventID: "evt_1", EventType: "call.ended", EventOffset: 300, Subject: "call_1",
		State: domain.DeliveryFailed, Attempts: 5, FirstAttemptAt: &at, ResponseStatus: 503, ResponseTimeMs: 12, Error: "the endpoint answered 503", CreatedAt: at,
	}
	packed := want.AppendPacked(nil)
	before := &domain.Delivery{ID: "before"}
	refused := func(k domain.Key, b []byte, why string) {
		got := &domain.Delivery{ID: "before"}
		assert.False(t, got.ReadPacked(k, b), why)
		assert.Equal(t, before, got, why)
	}
	for cut := range packed {
		refused(want.Key(), packed[:cut], "cut")
	}
	refused(want.Key(), append(slices.Clone(packed), 0), "more than there is")
	refused(domain.Key{Kind: "delivery", Workspace: "ws_1", ID: "wh_1"}, packed, "no event in the key")
	later := slices.Clone(packed)
	later[0] = 0xff
	refused(want.Key(), slices.Insert(later, 1, 1), "a field of a later program")
	state := slices.Index(packed, 4)
	wrong := slices.Clone(packed)
	wrong[state] = 9
	refused(want.Key(), wrong, "unknown state")
}

func FuzzPackedDelivery(f *testing.F) {
	f.Add((&domain.Delivery{ID: "dlv_1", State: domain.DeliveryQueued, CreatedAt: time.Unix(1, 2)}).AppendPacked(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := new(domain.Delivery)
		k := domain.Key{Kind: "delivery", Workspace: "ws_1", ID: "wh_1/evt_1"}
		if !got.ReadPacked(k, b) {
			return
		}
		again := new(domain.Delivery)
		require.True(t, again.ReadPacked(k, got.AppendPacked(nil)))
		require.Equal(t, got, again)
	})
}
