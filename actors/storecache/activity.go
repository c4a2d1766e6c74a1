package storecache

import (
	"sync"
	"time"

	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// activitySlice is how finely an activity counts: a minute is activitySlices of
// them, so what it tells is of the last 54 to 60 seconds.
const (
	activitySlice  = 6 * time.Second
	activitySlices = 10
)

// activity counts what a workspace has committed within the last minute, in
// room that never grows. The zero value is ready.
type activity struct {
	mu     sync.Mutex
	slices [activitySlices]struct{ number, calls, commits int64 }
}

// committed counts a commit and the calls that begin with it.
func (a *activity) committed(c *commit.Change, now time.Time) {
	begun := int64(0)
	for i := range c.Events {
		if c.Events[i].Type == event.CallStarted {
			begun++
		}
	}
	number := now.UnixNano() / int64(activitySlice)
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.slices[number%activitySlices]
	if s.number != number {
		s.number, s.calls, s.commits = number, 0, 0
	}
	s.calls += begun
	s.commits++
}

// LastMinute is what was counted within the last minute.
func (a *activity) lastMinute(now time.Time) (calls, commits int) {
	number := now.UnixNano() / int64(activitySlice)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.slices {
		if s := &a.slices[i]; s.number > number-activitySlices && s.number <= number {
			calls += int(s.calls)
			commits += int(s.commits)
		}
	}
	return calls, commits
}

// activityOf is the activity of a workspace.
func (s *Store) activityOf(workspace string) *activity {
	v, ok := s.work.Load(workspace)
	if !ok {
		v, _ = s.work.LoadOrStore(workspace, &activity{})
	}
	a, _ := v.(*activity)
	return a
}

// LastMinute returns the calls that began in a workspace and its commits, of the minute
// before now.
func (s *Store) LastMinute(workspaceID string, now time.Time) (calls, commits int) {
	return s.activityOf(workspaceID).lastMinute(now)
}
