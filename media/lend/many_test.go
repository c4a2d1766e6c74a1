package lend_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

func TestAThousandSessionsLiveOnOneLink(t *testing.T) {
	t.Parallel()
	e, err := media.NewEngine(media.Config{BindIP: netip.AddrFrom4([4]byte{127, 0, 0, 77}), PortMin: 3000, PortMax: 9999, Quarantine: 50 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	n := lends(t, e)
	link, _ := joins(t, n, lend.LinkConfig{})
	const many = 1000
	sessions := make([]*lend.Session, many)
	var opening sync.WaitGroup
	for i := range 10 {
		opening.Go(func() {
			for k := i; k < many; k += 10 {
				s, err := link.Open(media.Options{})
				if err != nil {
					t.Errorf("session %d: %v", k, err)
					return
				}
				sessions[k] = s
				assert.NotEmpty(t, s.Offer())
				if k < 50 {
					s.Begin()
				}
			}
		})
	}
	opening.Wait()
	require.NotNil(t, sessions[many-1])
	assert.Equal(t, many, link.Live())
	assert.Equal(t, many, n.lender.Live())
	eventually(t, "time passes for those that have begun", func() bool { return sessions[0].Mark() > 1500*time.Millisecond && sessions[49].Mark() > time.Second })
	assert.Zero(t, sessions[50].Mark())
	require.NoError(t, link.Err(), "six beats later")
	for _, s := range sessions[:500] {
		s.Close()
	}
	assert.Equal(t, 500, link.Live())
	assert.Equal(t, 500, n.lender.Live())
	link.Close()
	eventually(t, "all of them are closed", func() bool { return n.lender.Live() == 0 && e.Live() == 0 })
}

// Whatever goes over for each frame makes no garbage, at neither end.
func TestSoundOfALinkMakesNoGarbage(t *testing.T) {
	o := lend.NewOutbox()
	frame := make([]byte, 160)
	for range 4000 {
		o.Sound(frame)
	}
	o.Empty()
	assert.Zero(t, testing.AllocsPerRun(1000, func() { o.Sound(frame) }))
}
