package persistence_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// BenchmarkHundredNodeCommits measures figures of docs/scale.md: the commits of calls, three per call. A hundred
// processes with separate connections use one Redis that syncs every write. Run it with -benchtime 20000x.
func BenchmarkHundredNodeCommits(b *testing.B) {
	for _, nodes := range []int{1, 100} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) { benchNodes(b, nodes) })
	}
}

func benchNodes(b *testing.B, nodes int) {
	b.Helper()
	const writers = 400 // concurrent calls over all nodes
	url, _ := redistest.Start(b)
	o, err := goredis.ParseURL(url)
	require.NoError(b, err)
	about := goredis.NewClient(o)
	defer func() { _ = about.Close() }()
	fact := func(name string) float64 {
		text, err := about.Info(b.Context()).Result()
		require.NoError(b, err)
		n, err := strconv.ParseFloat(regexp.MustCompile(`(?m)^` + name + `:([\d.]+)`).FindStringSubmatch(text)[1], 64)
		require.NoError(b, err)
		return n
	}
	took := func() float64 { return fact("used_cpu_sys") + fact("used_cpu_user") }
	var next atomic.Int64
	var wg sync.WaitGroup
	calls := make([]func(int), nodes)
	for i := range calls {
		d, err := redis.Open(b.Context(), url, redis.Options{AnyHistory: true})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, d.Close()) })
		s := open(b, d)
		calls[i] = func(n int) {
			for step := range 3 {
				if _, err := s.Apply(b.Context(), callStep(fmt.Sprint("ws_", n%(100*nodes)), n, step)); err != nil {
					b.Error(err)
				}
			}
		}
	}
	cpu, memory := took(), fact("used_memory")
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				calls[w%nodes](int(n))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(3*float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric((took()-cpu)*1e6/3/float64(b.N), "µs_redis/commit")
	b.ReportMetric((fact("used_memory")-memory)/float64(b.N), "B/call")
	b.ReportMetric(fact("used_cpu_sys")/(fact("used_cpu_user")+fact("used_cpu_sys")), "in_kernel")
}

// callStep returns the commit of one step of a call, with two events. The steps are begun, answered and ended.
func callStep(ws string, n, step int) commit.Change {
	at := time.Date(2026, 3, 2, 12, 0, n%60, 0, time.UTC)
	c := &domain.Call{
		Meta:      domain.Meta{ID: fmt.Sprintf("call_%026d", n), WorkspaceID: ws, Environment: domain.Live, CreatedAt: at, UpdatedAt: at},
		Direction: "outbound", From: "+12025550100", To: fmt.Sprintf("+1202%07d", n%10_000_000), AgentID: "agent_00000000000000000000000001",
		CampaignID: "campaign_00000000000000000000000001", ContactID: fmt.Sprintf("contact_%026d", n), Attempt: 1, StartedAt: &at, Record: true,
		Status: []domain.CallStatus{domain.CallInitiated, domain.CallInProgress, domain.CallCompleted}[step], Variables: map[string]string{"name": "Ada", "order": strconv.Itoa(n)},
		Legs: []domain.Leg{{}},
	}
	var drafts []event.Draft
	for i := range 2 {
		drafts = append(drafts, event.Draft{
			ID: fmt.Sprintf("event_%024d%d%d", n, step, i), Type: "call.started", CreatedAt: at, WorkspaceID: ws, Environment: domain.Live, Subject: c.ID,
			Data: map[string]string{"call_id": c.ID, "contact_id": c.ContactID, "text": strings.Repeat("x", 300)},
		})
	}
	return commit.Change{Workspace: ws, Guards: []commit.Guard{{Key: c.Key(), Version: uint64(step)}}, Puts: []domain.Record{c}, Events: drafts}
}
