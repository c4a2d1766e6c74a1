package media_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip/siptest"
)

// pairOf returns an engine with the given number of port pairs from port low on, and the quarantine rest.
func pairOf(t *testing.T, low, pairs int, rest time.Duration) *media.Engine {
	t.Helper()
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: low + 2*pairs - 1, Quarantine: rest})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// reopen opens a session as soon as the quarantine of a port pair is over.
func reopen(t *testing.T, e *media.Engine) (s *media.Session) {
	t.Helper()
	eventually(t, "the quarantine is over", func() bool {
		var err error
		s, err = e.Open(media.Options{})
		return err == nil
	})
	return s
}

func TestPacketsOfFormerCallDoNotReachNextOnSamePort(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	e := pairOf(t, siptest.MediaPorts10(t), 1, 100*time.Millisecond)
	first := open(t, e, media.Options{})
	_, err := first.Answer(p.sdp(""))
	require.NoError(t, err)
	first.Begin()
	p.say(t, first.LocalPort(), 5, 0, 0x90)
	eventually(t, "heard", func() bool { return first.Stats().PacketsReceived == 5 })
	p.say(t, first.LocalPort(), 5, 0, 0x90) // in transit while the session closes
	first.Close()
	p.say(t, first.LocalPort(), 10, 0, 0x90) // during the quarantine

	next := reopen(t, e)
	assert.Equal(t, first.LocalPort(), next.LocalPort())
	p.say(t, next.LocalPort(), 10, 0, 0x90) // before the next call has SDP
	_, err = next.Answer(p.sdp(""))
	require.NoError(t, err)
	next.Begin()
	never(t, 100*time.Millisecond, "a packet of the former call is accepted", func() bool {
		return next.Stats().PacketsReceived > 0
	})
	p.say(t, next.LocalPort(), 3, 0, 0x90)
	eventually(t, "packets for the new call are accepted", func() bool { return next.Stats().PacketsReceived == 3 })
}

func TestPortPairWithLatePacketsIsQuarantinedAgainWithinLimit(t *testing.T) {
	t.Parallel()
	low := siptest.MediaPorts10(t)
	for range 20 { // repeated, because a stalled machine may pause the sender for too long
		if disturbed(t, low) {
			return
		}
	}
	require.Fail(t, "the machine is too busy for this test")
}

// disturbed checks that packets to a quarantined pair extend its quarantine. It returns false if the machine stalled, so
// that the test proves nothing.
func disturbed(t *testing.T, low int) bool {
	t.Helper()
	const rest = 150 * time.Millisecond
	p := newPeer(t)
	e := pairOf(t, low, 1, rest)
	defer func() { _ = e.Close() }()
	first, err := e.Open(media.Options{})
	require.NoError(t, err)
	_, done := first.Close()
	<-done
	freed := time.Now()
	sent, longest := freed, time.Duration(0)
	var s *media.Session
	eventually(t, "the pair is allocated in the end", func() bool {
		longest = max(longest, time.Since(sent))
		p.say(t, first.LocalPort(), 20, 0, 0x90)
		sent = time.Now()
		s, err = e.Open(media.Options{})
		return err == nil
	})
	if longest > rest/2 {
		return false
	}
	assert.Equal(t, first.LocalPort(), s.LocalPort())
	assert.GreaterOrEqual(t, time.Since(freed), 4*rest)
	assert.Zero(t, s.Stats().PacketsReceived)
	return true
}

func TestQuarantinedPortPairsKeepSocketsUpToLimit(t *testing.T) {
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(list)
	}
	e := pairOf(t, siptest.MediaPorts1390(t), 690, time.Nanosecond)
	e.Keep(512, 512, time.Minute)
	before := files()
	sessions := make([]*media.Session, 600)
	for i := range sessions {
		var err error
		sessions[i], err = e.Open(media.Options{})
		require.NoError(t, err)
	}
	assert.Equal(t, before+1200, files())
	for _, s := range sessions {
		s.Close()
	}
	assert.Equal(t, before+1024, files(), "512 pairs stay bound")
	for range 3 {
		for i := range sessions {
			s, err := e.Open(media.Options{})
			require.NoError(t, err)
			sessions[i] = s
			s.Close()
		}
		assert.Equal(t, before+1024, files(), "the bound pairs are reused")
	}
	require.NoError(t, e.Close())
	assert.Equal(t, before, files())
}

func TestIdlePortPairsAreClosedInQuietTimes(t *testing.T) {
	t.Parallel()
	const pairs, few = 40, 5
	e := pairOf(t, siptest.MediaPorts400(t), pairs, time.Nanosecond)
	use := func(n int) {
		sessions := make([]*media.Session, n)
		for i := range sessions {
			var err error
			sessions[i], err = e.Open(media.Options{})
			require.NoError(t, err)
		}
		for _, s := range sessions {
			s.Close()
		}
	}
	e.Keep(pairs, few, time.Hour)
	use(pairs)
	assert.Equal(t, pairs, e.Ports().Bound, "all pairs stay bound under load")
	e = pairOf(t, siptest.MediaPorts400(t), pairs, time.Nanosecond)
	e.Keep(pairs, few, 20*time.Millisecond)
	use(pairs)
	eventually(t, "all but a few pairs are closed", func() bool { return e.Ports().Bound == few })
	use(pairs)
	eventually(t, "the pairs are closed again after later calls", func() bool { return e.Ports().Bound == few })
}

// TestPortUseCountsPairsByState compares the running counters of Engine.Ports with a count of the pairs in each state.
func TestPortUseCountsPairsByState(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{time.Nanosecond, time.Hour} {
		low := siptest.MediaPorts400(t)
		other, err := net.ListenPacket("udp", fmt.Sprint("127.0.0.1:", low+6)) // held by another program
		require.NoError(t, err)
		e := pairOf(t, low, 40, rest)
		e.Keep(20, 5, time.Hour)
		var live []*media.Session
		for i := range 300 {
			if s, err := e.Open(media.Options{}); err == nil {
				live = append(live, s)
			}
			if i%3 == 0 && len(live) > 0 && rest == time.Nanosecond || i == 30 {
				n := rand.IntN(len(live))
				live[n].Close()
				live = slices.Delete(live, n, n+1)
			}
			require.Equal(t, e.Looked(), e.Ports())
		}
		assert.NotEmpty(t, live)
		assert.Equal(t, len(live), e.Ports().Taken)
		if rest == time.Hour {
			assert.Equal(t, 2, e.Ports().Resting, "the used pair and the one of another program")
		}
		require.NoError(t, other.Close())
		require.NoError(t, e.Close())
		require.Equal(t, e.Looked(), e.Ports())
	}
}

func TestSessionWithoutSDPUsesLittleMemory(t *testing.T) {
	e := pairOf(t, siptest.MediaPorts1390(t), 400, time.Minute)
	sessions := make([]*media.Session, 0, 300)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range cap(sessions) {
		s, err := e.Open(media.Options{RecordPath: "never"})
		require.NoError(t, err)
		s.Offer()
		sessions = append(sessions, s)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.HeapAlloc-before.HeapAlloc)/uint64(len(sessions)), uint64(4<<10), "bytes per session")
	runtime.KeepAlive(sessions)
}

func TestStatsSayWhetherRecordingExists(t *testing.T) {
	e := engine(t)
	path := filepath.Join(t.TempDir(), "a.wav")
	for name, c := range map[string]struct {
		path  string
		begin bool
		frame bool
		sound bool
		want  bool
	}{
		"recorded":               {path, true, true, true, true},
		"not asked for":          {"", true, true, true, false},
		"never answered":         {path, false, true, true, false},
		"ended before its first": {path, true, false, true, false},
		"never had any sound":    {path, true, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, e, media.Options{RecordPath: c.path})
			turn := media.NewTurn(s)
			_, err := s.Answer(newPeer(t).sdp(""))
			require.NoError(t, err)
			if c.begin {
				s.Begin()
			}
			if c.sound {
				s.Play(1, tone.Make(time.Second, 0.3, 440))
			}
			if c.frame {
				turn.Frame()
			}
			assert.Equal(t, c.want, s.Stats().Recorded)
			stats, done := s.Close()
			assert.Equal(t, c.want, stats.Recorded)
			r := <-done
			require.NoError(t, r.Err)
			assert.Equal(t, c.want, r.Path != "")
		})
	}
}
