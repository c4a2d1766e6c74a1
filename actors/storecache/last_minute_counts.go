package storecache

import (
	"sync"
	"time"

	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// activitySlice is the length of one time slice of an activity. activitySlices slices are one minute. The oldest slice
// is dropped as a whole, so the counts cover the last 54 to 60 seconds.
const (
	activitySlice  = 6 * time.Second
	activitySlices = 10
)

// activity counts a workspace's commits and new calls of the last minute in constant memory. The zero value is
// ready to use.
type activity struct {
	mu     sync.Mutex
	slices [activitySlices]struct{ number, calls, commits int64 }
}

// addCommit counts a commit, and the new calls that it contains.
func (a *activity) addCommit(c *commit.Change, now time.Time) {
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

// lastMinute returns the numbers of new calls and commits of the last minute.
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

// activityOf returns the counters of the recent activity of a workspace.
func (s *Store) activityOf(workspace string) *activity {
	v, ok := s.activities.Load(workspace)
	if !ok {
		v, _ = s.activities.LoadOrStore(workspace, &activity{})
	}
	a, _ := v.(*activity)
	return a
}

// LastMinute returns the numbers of calls started and commits made in a workspace within the minute before now.
func (s *Store) LastMinute(workspaceID string, now time.Time) (calls, commits int) {
	return s.activityOf(workspaceID).lastMinute(now)
}
