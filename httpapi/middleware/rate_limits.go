package middleware

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
)

// countedWorkspaces is the maximum number of counts in memory, by workspace or by workspace and path. Counts are
// evicted only above this number.
const countedWorkspaces = 1 << 20

// RateLimits counts requests and refuses those over a limit.
type RateLimits struct {
	log           *slog.Logger
	workspaces    Workspaces
	general       limit.Limiter // counts by workspace
	paths         limit.Limiter // counts by workspace and path
	users         limit.Limiter // counts by workspace and user
	failures      limit.Limiter // by address: requests without a valid credential
	preflights    limit.Limiter // by address: preflight requests of allowed origins
	pageUpdates   limit.Limiter // by user: automatic updates of dashboard pages
	operatorPages limit.Limiter // by user: requests to the operator's page
	store         *countStore
}

// NewRateLimits returns the rate limits of a server. Its background work ends with life. If windows is nil, the counts
// are not stored.
func NewRateLimits(life context.Context, log *slog.Logger, workspaces Workspaces, windows RateWindows) *RateLimits {
	l := &RateLimits{
		log: log, workspaces: workspaces, general: limit.Limiter{Names: countedWorkspaces}, paths: limit.Limiter{Names: countedWorkspaces},
	}
	l.store = newCountStore(life, windows, log, &l.general, &l.paths)
	return l
}

// WriteCounts stores the counts that have changed since the last write.
func (l *RateLimits) WriteCounts(ctx context.Context) { l.store.writeAll(ctx) }

// failureRule is the limit, per client address, of requests without a valid credential.
func failureRule() limit.Rule { return limit.Rule{N: 30, Window: time.Minute} }

// preflightRule is the limit of CORS preflight requests per client address. It is high because many browsers may share
// an address and a preflight has no credential.
func preflightRule() limit.Rule { return limit.Rule{N: 600, Window: time.Minute} }

// pageUpdateRule is the limit of automatic updates of a user's open dashboard pages. The updates count against no other
// limit, so an open page does not block the actions of its user.
func pageUpdateRule() limit.Rule { return limit.Rule{N: 600, Window: time.Minute} }

// operatorPageRule is the limit of a user's requests to the operator's page. They do not count against the limit of the
// workspace, so other clients of the workspace cannot block an operator.
func operatorPageRule() limit.Rule { return limit.Rule{N: 300, Window: time.Minute} }

// generalRule is the limit of all requests of a workspace in one environment.
func generalRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: w.Limits.RequestsPerMinute, Window: time.Minute, Burst: true}
}

// userRule is the limit of one user: half of the workspace's rate, without a burst.
func userRule(w *domain.Workspace) limit.Rule {
	return limit.Rule{N: (w.Limits.RequestsPerMinute + 1) / 2, Window: time.Minute}
}

// storedName returns the name under which the requests of an environment to a path are stored. The path "" stands for
// all requests.
func storedName(env domain.Environment, path string) string {
	if env == domain.Test {
		return "test " + path
	}
	return path
}

// limitName returns the name of a request count in memory. The live and the test environment of a workspace are counted
// separately.
func limitName(workspaceID string, env domain.Environment, path string) string {
	return workspaceID + " " + storedName(env, path)
}

// environments lists the environments whose requests are counted.
func environments() [2]domain.Environment { return [...]domain.Environment{domain.Live, domain.Test} }

// addressName returns the name under which the requests of an address are counted. An IPv6 address counts as its /64
// prefix, because one client may own the whole prefix.
func addressName(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// CountFailure counts a request without a valid credential against the rate limit of its address.
func (l *RateLimits) CountFailure(c *fiber.Ctx, v *router.Request) error {
	return respondLimit(c, l.failures.Allow(addressName(v.IP), failureRule(), time.Now()))
}

func (l *RateLimits) countPreflight(c *fiber.Ctx, v *router.Request) error {
	return respondLimit(c, l.preflights.Allow(addressName(v.IP), preflightRule(), time.Now()))
}

// CountPageUpdate counts an automatic update of an open dashboard page against the limit of such updates.
func (l *RateLimits) CountPageUpdate(c *fiber.Ctx, u *domain.User) error {
	return respondLimit(c, l.pageUpdates.Allow(u.WorkspaceID+" "+u.ID, pageUpdateRule(), time.Now()))
}

// CountSignedOutUpdate counts an automatic update of an open page without a session. It applies failureRule, but
// these updates are counted separately from other failures.
func (l *RateLimits) CountSignedOutUpdate(c *fiber.Ctx, v *router.Request) error {
	return respondLimit(c, l.pageUpdates.Allow(addressName(v.IP), failureRule(), time.Now()))
}

// CountOperatorPage counts a user's request to the operator's page against the limit of that page.
func (l *RateLimits) CountOperatorPage(c *fiber.Ctx, u *domain.User) error {
	return respondLimit(c, l.operatorPages.Allow(u.WorkspaceID+" "+u.ID, operatorPageRule(), time.Now()))
}

// CountRequest counts a request against the limit of its workspace and the limit of its user. The response headers show
// the limit with fewer remaining requests, or the limit that refuses the request.
func (l *RateLimits) CountRequest(c *fiber.Ctx, p domain.Principal) error {
	w, err := l.workspaces.Workspace(c.UserContext(), p)
	if err != nil {
		return err
	}
	if err = l.store.restoreCounts(c.UserContext(), w); err != nil {
		return err
	}
	v, name := router.RequestOf(c.UserContext()), limitName(w.ID, p.Environment, "")
	if p.UserID != "" {
		if v.GeneralLimit, err = l.takeRequest(c, &l.users, "", name+" "+p.UserID, userRule(w)); err != nil {
			return err
		}
	}
	a, err := l.takeRequest(c, &l.general, w.ID, name, generalRule(w))
	if v.GeneralLimit.Limit != 0 && v.GeneralLimit.Remaining < a.Remaining && err == nil {
		return respondLimit(c, v.GeneralLimit)
	}
	v.GeneralLimit = a
	return err
}

// countPathRequest counts a request against the limit of its path. The handler calls it after permissions and body are
// checked. refund removes the request from the count.
func (l *RateLimits) countPathRequest(c *fiber.Ctx, path pathLimit) (refund func(), err error) {
	v := router.RequestOf(c.UserContext())
	w, err := l.workspaces.Workspace(c.UserContext(), v.Principal)
	if err != nil {
		return nil, err
	}
	name := limitName(w.ID, v.Principal.Environment, path.path)
	a, err := l.takeRequest(c, &l.paths, w.ID, name, path.rule(w))
	if err != nil {
		return nil, err
	}
	general := v.GeneralLimit
	if a.Remaining > general.Remaining && general.Limit > 0 {
		_ = respondLimit(c, general) // shows the general limit, which has fewer remaining requests
	}
	return func() {
		l.paths.Refund(name, a)
		if general.Limit > 0 {
			_ = respondLimit(c, general)
		}
	}, nil
}

// takeRequest counts a request under a name and waits if the request is part of a burst. storedFor is the workspace
// whose counts are stored, "" if the count is kept in memory only.
func (l *RateLimits) takeRequest(c *fiber.Ctx, counts *limit.Limiter, storedFor, name string, r limit.Rule) (limit.Decision, error) {
	a := counts.Allow(name, r, time.Now()) // the current time: reading a form may have taken long
	if storedFor != "" {
		l.store.countUnwritten(c.UserContext(), storedFor, a)
	}
	if err := respondLimit(c, a); err != nil || a.Wait == 0 {
		return a, err
	}
	defer counts.EndWait(name)
	l.log.DebugContext(c.UserContext(), "request slowed down", slog.Duration("wait", a.Wait))
	timer := time.NewTimer(a.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return a, nil
	case <-c.UserContext().Done():
		return a, c.UserContext().Err()
	}
}

// Usage returns how much of each limit a workspace has used in an environment: first the general limit, then the
// limits of single paths.
func (l *RateLimits) Usage(w *domain.Workspace, env domain.Environment) []limit.Usage {
	now := time.Now()
	usage := func(counts *limit.Limiter, path string, r limit.Rule) limit.Usage {
		used, reset := counts.Used(limitName(w.ID, env, path), r, now)
		return limit.Usage{Path: path, Used: used, Rule: r, Reset: reset}
	}
	out := []limit.Usage{usage(&l.general, "", generalRule(w))}
	for _, path := range pathLimits() {
		out = append(out, usage(&l.paths, path.path, path.rule(w)))
	}
	return out
}

// RequestsLastMinute returns the number of requests of a workspace within the last minute, in its live and its test
// environment together.
func (l *RateLimits) RequestsLastMinute(w *domain.Workspace) (sum int) {
	for _, env := range environments() {
		requests, _ := l.general.Used(limitName(w.ID, env, ""), generalRule(w), time.Now())
		sum += requests
	}
	return sum
}

// limitHeaderNames are the names that router.LimitHeaders returns, in the form in which fasthttp stores them.
var limitHeaderNames = [...][]byte{ //nolint:gochecknoglobals // a constant table
	[]byte("X-Ratelimit-Limit"), []byte("X-Ratelimit-Remaining"), []byte("X-Ratelimit-Reset"), []byte("X-Ratelimit-Window"),
}

// respondLimit sets the response headers of a limit. It returns rate_limit_exceeded if the limit is reached.
func respondLimit(c *fiber.Ctx, a limit.Decision) error {
	reset := a.Reset.Unix()
	if a.Reset.Nanosecond() > 0 {
		reset++
	}
	var text [20]byte
	for i, n := range [...]int64{int64(a.Limit), int64(a.Remaining), reset, int64(a.Window / time.Second)} {
		c.Response().Header.SetCanonical(limitHeaderNames[i], strconv.AppendInt(text[:0], n, 10))
	}
	if a.OK {
		return nil
	}
	after := a.RetryAfter(time.Now())
	return domain.Errorf(domain.CodeRateLimit, "Too many requests: %d per %d seconds. Try again in %d seconds.", a.Limit, int(a.Window/time.Second), after).
		With("retry_after", after)
}
