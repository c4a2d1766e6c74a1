package mailbox_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
)

// The test relies on internals of protoactor's registry (ADR 0099). It fails if another version of protoactor changes the
// number of buckets or the assignment of names to buckets.
func TestShrunkRegistryFindsAllNames(t *testing.T) {
	sys := actor.NewActorSystem()
	registry := sys.ProcessRegistry
	require.Len(t, registry.LocalPIDs.LocalPIDs, 1024)
	id := func(i int) string { return fmt.Sprintf("call/%d/leg", i) }
	before, after := 3000, 6000
	for i := range before {
		_, fresh := registry.Add(sys.DeadLetter, id(i))
		require.True(t, fresh)
	}
	mailbox.ShrinkRegistry(registry.LocalPIDs)
	require.Len(t, registry.LocalPIDs.LocalPIDs, 32)
	for i := before; i < after; i++ {
		_, fresh := registry.Add(sys.DeadLetter, id(i))
		require.True(t, fresh)
	}
	for i := range after {
		_, there := registry.GetLocal(id(i))
		require.True(t, there, id(i))
		_, fresh := registry.Add(sys.DeadLetter, id(i))
		require.False(t, fresh, "a name is taken once")
	}
	registry.Remove(actor.NewPID(registry.Address, id(1)))
	_, there := registry.GetLocal(id(1))
	assert.False(t, there)

	for _, name := range []string{"eventstream", "deadletter"} { // processes of every new actor system
		_, was := actor.NewActorSystem().ProcessRegistry.GetLocal(name)
		_, is := mailbox.NewSystem(slog.New(slog.DiscardHandler)).ProcessRegistry.GetLocal(name)
		assert.Equal(t, was, is, name)
	}
}
