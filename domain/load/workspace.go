package load

import (
	"github.com/callboard/callboard/domain"
)

// ConcurrentCalls counts the concurrent calls of one workspace or of all workspaces.
type ConcurrentCalls struct {
	Outbound CallCapacity `json:"outbound" doc:"Outbound calls in the live environment."`
	Inbound  CallCapacity `json:"inbound" doc:"Inbound calls in both environments."`
	Test     CallCapacity `json:"test" doc:"Outbound calls in the test environment, to the built-in carrier."`
}

// CallCapacity counts the concurrent calls in one direction, the limit of the plan, and the waiting calls.
type CallCapacity struct {
	Used    int `json:"used" doc:"Number of concurrent calls in use: live calls, calls that are about to be placed, and calls that may still exist after a crash."`
	Limit   int `json:"limit" doc:"Number of concurrent calls that the plan allows."`
	Waiting int `json:"waiting" doc:"Number of calls of campaigns and bulk jobs that wait for capacity."`
}

// Add adds the counts of o.
func (l *CallCapacity) Add(o CallCapacity) {
	l.Used += o.Used
	l.Limit += o.Limit
	l.Waiting += o.Waiting
}

// Activity counts the calls, commits and API requests of the last minute.
type Activity struct {
	Calls    int `json:"calls" doc:"Number of calls that started, inbound and outbound."`
	Commits  int `json:"commits" doc:"Number of commits to the store."`
	Requests int `json:"requests" doc:"Number of API requests that count toward the rate limit."`
}

// Add adds the counts of o.
func (a *Activity) Add(o Activity) {
	a.Calls += o.Calls
	a.Commits += o.Commits
	a.Requests += o.Requests
}

// Shares are shares of the activity of all workspaces, each from 0 to 1.
type Shares struct {
	Calls    float64 `json:"calls" doc:"Share of the calls that started within the last minute, 0 to 1."`
	Commits  float64 `json:"commits" doc:"Share of the commits to the store, 0 to 1."`
	Requests float64 `json:"requests" doc:"Share of the API requests, 0 to 1."`
}

// Largest returns the largest of the three shares.
func (s Shares) Largest() float64 { return max(s.Calls, s.Commits, s.Requests) }

// WorkspaceShare is the share of one workspace in the activity of all workspaces.
type WorkspaceShare struct {
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	Shares
}

// TrunkCounts counts trunks by health.
type TrunkCounts struct {
	Up       int `json:"up" doc:"Number of trunks that work or were not used yet."`
	Degraded int `json:"degraded" doc:"Number of trunks with a failed target, a back-off or an active alarm."`
	Down     int `json:"down" doc:"Number of trunks whose targets have all failed."`
}

// UnhealthyTrunk is a trunk that is degraded or down.
type UnhealthyTrunk struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Environment domain.Environment `json:"environment"`
	Status      string             `json:"status" enum:"degraded,down" doc:"degraded: a target failed, the trunk backs off or an alarm is active. down: every target failed."`
	LastError   string             `json:"last_error,omitempty" doc:"The last error."`
}

// WorkspaceLoad is the load of one workspace.
type WorkspaceLoad struct {
	Object         string           `json:"object"`
	ID             string           `json:"id"`
	Name           string           `json:"name"`
	Plan           domain.Plan      `json:"plan" doc:"The plan: starter, professional or enterprise."`
	Silent         bool             `json:"silent" doc:"true: the workspace did not answer within two seconds. Unknown numbers are 0."`
	LiveCalls      int              `json:"live_calls" doc:"Number of live calls, inbound and outbound."`
	Lines          ConcurrentCalls  `json:"lines" doc:"Concurrent calls of the workspace."`
	CallsPerMinute int              `json:"calls_per_minute" doc:"Highest number of calls that may start within one minute."`
	LastMinute     Activity         `json:"last_minute" doc:"Activity of the workspace within the last minute."`
	Share          Shares           `json:"share" doc:"Share of the workspace in the activity of all workspaces."`
	SpentToday     domain.Money     `json:"spent_today" doc:"Cost of today's outbound calls of the workspace. The day is in UTC."`
	SpentKnown     bool             `json:"spent_known" doc:"false: spent_today is incomplete. The amounts before the start of the service are still being read, or the workspace did not answer."`
	DailySpendCap  *domain.Money    `json:"daily_spend_cap" doc:"Highest cost of outbound calls per day. null: no cap."`
	Trunks         TrunkCounts      `json:"trunks" doc:"Number of trunks of the workspace by health."`
	Troubles       []UnhealthyTrunk `json:"troubles" doc:"Trunks that are degraded or down, at most 20. Trunks that are down come first."`
}
